import { noTeam, notInTeam, teamNotChosen } from "./errors";
import { defaultTeam, type Person, principalMatches } from "./principals";
import type { Scope } from "./tokens";

/** The members of a team: IAM principals, or groups in the tokens of Cognito or another OIDC provider. */
export interface TeamMembers {
  readonly name: string;
  /** ARNs. `*` stands for any characters but `:` and `/`; see `principalMatches`. */
  readonly principals: readonly string[];
  readonly groups: readonly string[];
}

export interface Caller {
  readonly actor: string;
  /** Absent if the gateway authenticated no person. */
  readonly person?: Person;
  /** Names of the caller that are compared with principal patterns. */
  readonly principals: readonly string[];
  readonly groups: readonly string[];
  /** Absent if the credentials carry no scopes. They then permit everything. */
  readonly scopes?: readonly Scope[];
  /** Time at which the credentials expire, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** The team, if the gateway knows it itself, as the local gateway does. */
  readonly team?: string;
}

/** The teams in the directory's order. If it assigns nobody to a team, every caller is in the default team. */
export function teamsOf(caller: Caller, directory: readonly TeamMembers[]): readonly string[] {
  if (caller.team !== undefined) return [caller.team];
  if (directory.every(({ principals, groups }) => principals.length + groups.length === 0)) return [defaultTeam];
  return directory
    .filter(
      ({ principals, groups }) =>
        groups.some((group) => caller.groups.includes(group)) ||
        principals.some((pattern) => caller.principals.some((principal) => principalMatches(pattern, principal))),
    )
    .map(({ name }) => name);
}

/**
 * Chooses the team of a call.
 * @param requested named by the caller, who must be in it
 * @throws NO_TEAM, NOT_IN_TEAM, TEAM_NOT_CHOSEN
 */
export function chooseTeam(caller: Caller, directory: readonly TeamMembers[], requested: string | undefined): string {
  const teams = teamsOf(caller, directory);
  if (teams.length === 0) throw noTeam(caller.actor);
  if (requested !== undefined) {
    if (!teams.includes(requested)) throw notInTeam(caller.actor, requested.slice(0, 64), teams);
    return requested;
  }
  if (teams.length > 1) throw teamNotChosen(caller.actor, teams);
  return teams[0]!;
}
