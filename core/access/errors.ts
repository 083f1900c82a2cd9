import { badRequest, forbidden, RingmasterError } from "../errors";

export class UnauthenticatedError extends RingmasterError {
  constructor(why: string) {
    super(
      `${why}: send a token as "Authorization: Bearer …" (the command line takes it from RINGMASTER_TOKEN); ` +
        "`ringmaster tokens create NAME --team TEAM` creates one",
      { code: "UNAUTHENTICATED", httpStatus: 401 },
    );
  }
}

export function insufficientScope(actor: string, operation: string, required: string, granted: readonly string[]) {
  const has = granted.length === 0 ? "no scope" : `scope ${granted.join(", ")}`;
  return forbidden(
    "INSUFFICIENT_SCOPE",
    `${operation} requires scope ${required}, but the token of ${actor} has ${has}: use a token with that scope ` +
      `(\`ringmaster tokens create NAME --scope ${[...granted, required].join(",")}\`)`,
    { actor, operation, required, granted },
  );
}

export const noTeam = (actor: string) =>
  forbidden(
    "NO_TEAM",
    `${actor} is not in a team: the operator of this deployment must add its principal or one of its groups to a team, under "teams" in ringmaster.config.ts, and deploy`,
    { actor },
  );

/** Thrown when the caller requests a team that it is not in. Does not reveal whether that team exists. */
export const notInTeam = (actor: string, requested: string, teams: readonly string[]) =>
  forbidden(
    "NOT_IN_TEAM",
    `${actor} is not in team ${JSON.stringify(requested)}, but in ${teams.join(", ")}: name one of these teams in x-ringmaster-team (--team)`,
    { actor, requested, teams },
  );

export const teamNotChosen = (actor: string, teams: readonly string[]) =>
  badRequest(
    "TEAM_NOT_CHOSEN",
    `${actor} is in several teams, ${teams.join(", ")}: name one of these teams in x-ringmaster-team (--team, RINGMASTER_TEAM)`,
    { actor, teams },
  );
