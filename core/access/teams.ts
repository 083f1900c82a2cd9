import { InvalidInputError } from "../errors";

/** The team that always exists. A team is a tenant: its data, runs and models are invisible to every other team. */
export const defaultTeam = "default";

export const teamNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
export const teamNameRule = "must be 1–32 lower-case letters, digits and hyphens, starting with a letter";

/**
 * Validates a team name. Names become parts of keys in the tables and in the bucket, so every name from outside is
 * checked.
 *
 * @param path where the name was given, for the error message
 * @throws InvalidInputError
 */
export function checkTeamName(name: string, path = "team"): string {
  if (teamNamePattern.test(name)) return name;
  throw new InvalidInputError("the team's name", [{ path, value: name.slice(0, 64), rule: teamNameRule }]);
}
