import { InvalidInputError } from "../errors";

/** A team is a tenant: its data, runs and models are invisible to every other team. This one is always there. */
export const defaultTeam = "default";

export const teamNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
export const teamNameRule = "must be 1–32 lower-case letters, digits and hyphens, starting with a letter";

/**
 * Names become parts of keys, in the tables and in the bucket: nothing that comes from outside may get there unchecked.
 *
 * @param path says in the error where the name was given.
 * @throws InvalidInputError
 */
export function checkTeamName(name: string, path = "team"): string {
  if (teamNamePattern.test(name)) return name;
  throw new InvalidInputError("the team's name", [{ path, value: name.slice(0, 64), rule: teamNameRule }]);
}
