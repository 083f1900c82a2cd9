import { NoTeamError, NotInTeamError, TeamNotChosenError } from "./errors";
import type { Person } from "./person";
import { principalMatches } from "./principals";
import type { Scope } from "./scopes";
import { defaultTeam } from "./teams";

/** Who belongs to a team: as an IAM principal, or by a group in the token of Cognito or another OIDC provider. */
export interface TeamMembers {
  readonly name: string;
  /** ARNs, in which `*` stands for any characters but `:` and `/`; see `principalMatches`. */
  readonly principals: readonly string[];
  readonly groups: readonly string[];
}

/** Whoever the gateway says is calling. */
export interface Caller {
  /** A display name, for the records. */
  readonly actor: string;
  /** Absent where the gateway authenticated no person. */
  readonly person?: Person;
  /** The names by which a principal pattern may mean it. */
  readonly principals: readonly string[];
  readonly groups: readonly string[];
  /** Absent where the credentials carry none: then they permit everything. */
  readonly scopes?: readonly Scope[];
  /** When the credentials expire, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** Where the gateway knows the team itself, as the local one does. */
  readonly team?: string;
}

/** The caller's teams, in the order of the directory. Where nobody is put into any team everyone is of the default one. */
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
 * The team that a call is for.
 *
 * @param asked by the caller, who must be in it.
 * @throws NoTeamError, NotInTeamError, TeamNotChosenError
 */
export function chooseTeam(caller: Caller, directory: readonly TeamMembers[], asked: string | undefined): string {
  const teams = teamsOf(caller, directory);
  if (teams.length === 0) throw new NoTeamError(caller.actor);
  if (asked !== undefined) {
    if (!teams.includes(asked)) throw new NotInTeamError(caller.actor, asked.slice(0, 64), teams);
    return asked;
  }
  if (teams.length > 1) throw new TeamNotChosenError(caller.actor, teams);
  return teams[0];
}
