import type { GangHead, GangView, MemberRecord, SealedMember } from "./model";
import type { RendezvousTiming } from "./timing";

/**
 * Where a member stands, as others see it:
 * - `ready`: waits to be sealed into a generation;
 * - `sealed`: in the present generation's list, whether it has read so yet or not;
 * - `astray`: trains in an earlier generation and has not noticed that the gang went on;
 * - `gone`: left, accused, succeeded by a later attempt of its job, or its lease has lapsed.
 */
export type Standing = "ready" | "sealed" | "astray" | "gone";

export function standingOf(member: MemberRecord, view: GangView, now: number, timing: RendezvousTiming): Standing {
  if (member.state === "left" || member.accused || isSucceeded(member, view.members)) return "gone";
  const grace = member.state === "training" && !isReplaced(member, view.members) ? timing.trainingGraceMs : 0;
  if (now > member.leaseExpiresAt + grace) return "gone";
  if (isSealedIn(view.head, member)) return "sealed";
  return member.state === "training" ? "astray" : "ready";
}

function isSealedIn(head: GangHead | undefined, member: MemberRecord): boolean {
  return head?.members.some((sealed) => isSameRegistration(sealed, member)) ?? false;
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
export function isSucceeded(member: MemberRecord, members: readonly MemberRecord[]): boolean {
  const own = attemptOf(member.memberId);
  if (own === undefined) return false;
  return members.some(({ memberId }) => {
    const other = attemptOf(memberId);
    return other !== undefined && other.job === own.job && other.attempt > own.attempt;
  });
}

/** Of `<job id>/<attempt>`; undefined for ids of another form, which have no order. */
function attemptOf(memberId: string): { readonly job: string; readonly attempt: number } | undefined {
  const match = /^(.+)\/(\d+)$/.exec(memberId);
  return match ? { job: match[1]!, attempt: Number(match[2]) } : undefined;
}

/** Batch runs one attempt of an array index at a time: where a later one has registered, a lapsed lease needs no grace. */
function isReplaced(member: MemberRecord, members: readonly MemberRecord[]): boolean {
  return members.some(
    (other) =>
      other.workerIndex === member.workerIndex &&
      other.memberId !== member.memberId &&
      other.registeredAt > member.registeredAt,
  );
}
