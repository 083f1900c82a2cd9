import { RingmasterError } from "../errors";

/** Nobody is known to call: no token, or one that is not valid. */
export class UnauthenticatedError extends RingmasterError {
  constructor(why: string) {
    super(
      `${why}: send a token as "Authorization: Bearer …" (the command line takes it from RINGMASTER_TOKEN); ` +
        "`ringmaster tokens create NAME --team TEAM` creates one",
      { code: "UNAUTHENTICATED", httpStatus: 401 },
    );
  }
}

/** The caller's token does not permit the operation. */
export class InsufficientScopeError extends RingmasterError {
  constructor(actor: string, operation: string, required: string, granted: readonly string[]) {
    const has = granted.length === 0 ? "no scope" : `scope ${granted.join(", ")}`;
    super(
      `${operation} requires scope ${required}, but the token of ${actor} has ${has}: use a token with that scope ` +
        `(\`ringmaster tokens create NAME --scope ${[...granted, required].join(",")}\`)`,
      { code: "INSUFFICIENT_SCOPE", httpStatus: 403, details: { actor, operation, required, granted } },
    );
  }
}

/** The caller is known, and no team's. */
export class NoTeamError extends RingmasterError {
  constructor(actor: string) {
    super(
      `${actor} is not in a team: the operator of this deployment must add its principal or one of its groups to a team, under "teams" in ringmaster.config.ts, and deploy`,
      { code: "NO_TEAM", httpStatus: 403, details: { actor } },
    );
  }
}

/** The caller asks for a team that it is not in. Says nothing of whether there is such a team. */
export class NotInTeamError extends RingmasterError {
  constructor(actor: string, asked: string, teams: readonly string[]) {
    super(
      `${actor} is not in team ${JSON.stringify(asked)}, but in ${teams.join(", ")}: name one of these teams in x-ringmaster-team (--team)`,
      { code: "NOT_IN_TEAM", httpStatus: 403, details: { actor, asked, teams } },
    );
  }
}

/** The caller is in several teams and names none. */
export class TeamNotChosenError extends RingmasterError {
  constructor(actor: string, teams: readonly string[]) {
    super(
      `${actor} is in several teams, ${teams.join(", ")}: name one of these teams in x-ringmaster-team (--team, RINGMASTER_TEAM)`,
      {
        code: "TEAM_NOT_CHOSEN",
        httpStatus: 400,
        details: { actor, teams },
      },
    );
  }
}
