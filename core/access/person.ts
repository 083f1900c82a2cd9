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

/**
 * Returns the person id of a local token's actor. Several tokens of one actor, in any case or spacing of its name,
 * belong to one person.
 */
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
