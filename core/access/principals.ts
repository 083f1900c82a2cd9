import { InvalidInputError } from "../errors";

/**
 * A person whom the gateway has authenticated. Display names (`by`, `actor`) are not part of it, because a caller can
 * often choose its own. A caller without a person cannot be distinguished from other such callers.
 */
export interface Person {
  /** Immutable. Every call of the person has the same id. */
  readonly id: string;
  /** Other immutable names, by which a policy can list the person among its approvers. */
  readonly names: readonly string[];
}

/** Several tokens of one actor, in any case or spacing of its name, belong to one person. */
export function tokenPersonId(actor: string): string {
  return `token:${actor.trim().replace(/\s+/g, " ").toLowerCase()}`;
}

/** Returns the submitters to record for a caller's submission. */
export function submittersOf({ person }: { readonly person?: Person }): { readonly submitters?: readonly string[] } {
  return person ? { submitters: [person.id] } : {};
}

/** Tests whether two callers are the same person. A caller without an identity may be anyone, so its name decides. */
export function isSamePerson(
  one: { readonly by: string; readonly person?: Person },
  other: { readonly by: string; readonly person?: Person },
): boolean {
  if (one.person === undefined && other.person === undefined) return one.by === other.by;
  return one.person !== undefined && one.person.id === other.person?.id;
}

/** Tests whether an entry of `approvers` is a person: by its id, or by a name that it cannot change. */
export function isNamed({ id, names }: Person, approver: string): boolean {
  return approver === id || names.includes(approver);
}

/**
 * Tests whether an IAM principal matches a pattern.
 *
 * `*` stands for any characters but `:` and `/`, so that a pattern matches one kind of resource in one account and
 * under one path. A caller with an assumed role has the ARN of a session, `arn:aws:sts::1:assumed-role/Role/session`. A
 * pattern may name the role instead: `arn:aws:iam::1:role/path/Role`. The session's ARN lacks the role's path. The path
 * is not needed, because a role's name is unique in its account.
 */
export function principalMatches(pattern: string, principal: string): boolean {
  if (globMatches(pattern, principal)) return true;
  const role = /^(arn:[\w*-]+):iam::([^:/]+):role\/(?:.*\/)?([^/]+)$/.exec(pattern);
  if (!role) return false;
  const [, arn, account, name] = role;
  return globMatches(`${arn}:sts::${account}:assumed-role/${name}/*`, principal);
}

/** Returns why a pattern does not match what its author probably expects; `undefined` if it is sound. */
export function principalPatternProblem(pattern: string): string | undefined {
  if (/^[*:/]*$/.test(pattern)) return "would match every principal: name an account and a role or user";
  if (/:role\/.*\/[^/]*\*/.test(pattern))
    return "has a path and a * in the role's name, but a caller's ARN does not contain its role's path: name the role in full, or leave the path out";
  return undefined;
}

function globMatches(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^:/]*")}$`).test(text);
}

/** The team that always exists. A team is a tenant: its data, runs and models are invisible to every other team. */
export const defaultTeam = "default";

export const teamNamePattern = /^[a-z][a-z0-9-]{0,31}$/;
export const teamNameRule = "must be 1–32 lower-case letters, digits and hyphens, starting with a letter";

/**
 * Validates a team name. Names become parts of keys in the tables and in the bucket, so every name from outside is
 * checked.
 * @param path where the name was given, for the error message
 * @throws InvalidInputError
 */
export function checkTeamName(name: string, path = "team"): string {
  if (teamNamePattern.test(name)) return name;
  throw new InvalidInputError("the team's name", [{ path, value: name.slice(0, 64), rule: teamNameRule }]);
}
