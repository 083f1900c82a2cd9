import type { GangView, MemberRecord, SealedMember } from "./model";
import type { RendezvousTiming } from "./timing";

/**
 * Status of a member as others see it:
 * - `ready`: waits to be sealed into a generation;
 * - `sealed`: is in the current generation's list, whether or not it has read the list;
 * - `astray`: trains in an earlier generation and has not noticed the newer one;
 * - `gone`: left, was reported lost, was followed by a later attempt of its job, or its lease has expired.
 */
export type MemberStatus = "ready" | "sealed" | "astray" | "gone";

/** Returns the status of each member of a view: one pass over the view, then one look-up per member. */
export function statusesIn(
  view: GangView,
  now: number,
  timing: RendezvousTiming,
): (member: MemberRecord) => MemberStatus {
  const isSucceeded = successions(view.members);
  const isReplaced = replacements(view.members);
  const sealed = new Map(view.head?.members.map((member) => [member.memberId, member]));
  return (member) => {
    if (member.state === "left" || member.accused || isSucceeded(member)) return "gone";
    const grace = member.state === "training" && !isReplaced(member) ? timing.trainingGraceMs : 0;
    if (now > member.leaseExpiresAt + grace) return "gone";
    const entry = sealed.get(member.memberId);
    if (entry && isSameRegistration(entry, member)) return "sealed";
    return member.state === "training" ? "astray" : "ready";
  };
}

export function isSameRegistration(
  a: Pick<SealedMember, "memberId" | "incarnation" | "registration">,
  b: Pick<SealedMember, "memberId" | "incarnation" | "registration">,
): boolean {
  return a.memberId === b.memberId && a.incarnation === b.incarnation && a.registration === b.registration;
}

/**
 * Finds members whose job has a later attempt. Batch starts an attempt only after the previous one is over, so a later
 * registration shows that the earlier process is dead, and its lease need not be awaited. This is only a hint: if it is
 * wrong, the gang re-forms.
 */
export function successions(members: readonly MemberRecord[]): (member: MemberRecord) => boolean {
  const latest = new Map<string, number>();
  for (const { memberId } of members) {
    const own = attemptOf(memberId);
    if (own) latest.set(own.job, Math.max(own.attempt, latest.get(own.job) ?? 0));
  }
  return ({ memberId }) => {
    const own = attemptOf(memberId);
    return own !== undefined && (latest.get(own.job) ?? 0) > own.attempt;
  };
}

/** Parses `<job id>/<attempt>`; undefined for ids of another form, which have no order. */
function attemptOf(memberId: string): { readonly job: string; readonly attempt: number } | undefined {
  const slash = memberId.lastIndexOf("/");
  const attempt = memberId.slice(slash + 1);
  return slash > 0 && /^\d+$/.test(attempt) ? { job: memberId.slice(0, slash), attempt: Number(attempt) } : undefined;
}

/** Finds members whose worker index a later process has: their expired leases need no grace. */
function replacements(members: readonly MemberRecord[]): (member: MemberRecord) => boolean {
  const latest = new Map<number, number>();
  for (const { workerIndex, registeredAt } of members) {
    latest.set(workerIndex, Math.max(registeredAt, latest.get(workerIndex) ?? registeredAt));
  }
  return ({ workerIndex, registeredAt }) => latest.get(workerIndex)! > registeredAt;
}
