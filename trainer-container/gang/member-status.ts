import type { GangView, MemberRecord, SealedMember } from "./model";
import type { RendezvousTiming } from "./timing";

/**
 * Where a member stands, as others see it:
 * - `ready`: waits to be sealed into a generation;
 * - `sealed`: in the present generation's list, whether it has read so yet or not;
 * - `astray`: trains in an earlier generation and has not noticed that the gang went on;
 * - `gone`: left, accused, succeeded by a later attempt of its job, or its lease has lapsed.
 */
export type Standing = "ready" | "sealed" | "astray" | "gone";

/** How each member of a view stands: one pass over the view, then one look-up a member. */
export function standingsIn(view: GangView, now: number, timing: RendezvousTiming): (member: MemberRecord) => Standing {
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
 * Batch starts an attempt of a job when the one before it is over, so that a later one's registration tells that this one is dead: nobody
 * need wait for its lease. It is no more than a hint, like an accusation: were it wrong, the gang would re-form.
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

/** Of `<job id>/<attempt>`; undefined for ids of another form, which have no order. */
function attemptOf(memberId: string): { readonly job: string; readonly attempt: number } | undefined {
  const slash = memberId.lastIndexOf("/");
  const attempt = memberId.slice(slash + 1);
  return slash > 0 && /^\d+$/.test(attempt) ? { job: memberId.slice(0, slash), attempt: Number(attempt) } : undefined;
}

/** Batch runs one attempt of an array index at a time: where a later one has registered, a lapsed lease needs no grace. */
function replacements(members: readonly MemberRecord[]): (member: MemberRecord) => boolean {
  const latest = new Map<number, number>();
  for (const { workerIndex, registeredAt } of members) {
    latest.set(workerIndex, Math.max(registeredAt, latest.get(workerIndex) ?? registeredAt));
  }
  return ({ workerIndex, registeredAt }) => latest.get(workerIndex)! > registeredAt;
}
