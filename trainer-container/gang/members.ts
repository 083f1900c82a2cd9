/** The status of members as others see it, and which members can connect to each other. */
import type { GangRecords, MemberRecord, SealedMember, Unreachable } from "./store";
import type { RendezvousTiming } from "./timing";

/**
 * Status of a member as others see it:
 * - `ready`: waits to be sealed into a generation;
 * - `sealed`: is in the current generation's list, whether or not it has read the list;
 * - `astray`: trains in an earlier generation and has not noticed the newer one;
 * - `gone`: left, was reported lost, was followed by a later attempt of its job, or its lease has expired.
 */
export type MemberStatus = "ready" | "sealed" | "astray" | "gone";

/** Returns the status of each member: one pass over the records, then one look-up per member. */
export function statusesIn(
  records: GangRecords,
  now: number,
  timing: RendezvousTiming,
): (member: MemberRecord) => MemberStatus {
  const isSucceeded = successions(records.members);
  const isReplaced = replacements(records.members);
  const sealed = new Map(records.head?.members.map((member) => [member.memberId, member]));
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
 * Finds members whose job has a later attempt. Batch starts it only after the previous one is over, so its lease need
 * not be awaited. A wrong hint re-forms the gang.
 */
export function successions(members: readonly MemberRecord[]): (member: MemberRecord) => boolean {
  const latest = new Map<string, number>();
  for (const { memberId } of members) {
    const attempt = attemptOf(memberId);
    if (attempt) latest.set(attempt.job, Math.max(attempt.attempt, latest.get(attempt.job) ?? 0));
  }
  return ({ memberId }) => {
    const attempt = attemptOf(memberId);
    return attempt !== undefined && (latest.get(attempt.job) ?? 0) > attempt.attempt;
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

const firstMs = 15_000;
const maxMs = 600_000;

/**
 * Members that were repeatedly not reached. From the second failure in a row the two are separated, each time twice as
 * long: otherwise one broken link would cost five of six seconds.
 */
export class ReachMemory {
  private readonly failures = new Map<string, { readonly count: number; readonly until: number }>();

  failed(memberId: string, now: number): void {
    const count = (this.failures.get(memberId)?.count ?? 0) + 1;
    const until = count === 1 ? now : now + Math.min(maxMs, firstMs * 2 ** (count - 2));
    this.failures.set(memberId, { count, until });
  }

  reached(memberIds: readonly string[]): void {
    for (const memberId of memberIds) this.failures.delete(memberId);
  }

  list(now: number): readonly Unreachable[] {
    return [...this.failures].flatMap(([memberId, { until }]) => (until > now ? [{ memberId, until }] : []));
  }
}

/** Whether neither member reports the other as unreachable. */
export function canMeet(one: MemberRecord, other: MemberRecord, now: number): boolean {
  return !shuns(one, other, now) && !shuns(other, one, now);
}

function shuns({ unreachable = [] }: MemberRecord, { memberId }: MemberRecord, now: number): boolean {
  return unreachable.some((one) => one.memberId === memberId && one.until > now);
}

/**
 * Selects members, in line, that can all reach each other. The most conflicts leave first, then the one with fewer
 * finished steps or later in line. The only holder of the newest state always stays.
 */
export function thatCanMeet(members: readonly MemberRecord[], now: number): readonly MemberRecord[] {
  if (members.every(({ unreachable }) => unreachable === undefined)) return members;
  const holder = soleHolder(members);
  const rest = [...members];
  for (;;) {
    const inTheWay = rest.map((one) => rest.filter((other) => other !== one && !canMeet(one, other, now)).length);
    const worst = rest.reduce<number | undefined>((found, member, i) => {
      if (inTheWay[i] === 0 || member === holder) return found;
      if (found === undefined || inTheWay[i]! > inTheWay[found]!) return i;
      return inTheWay[i] === inTheWay[found] && member.finishedSteps <= rest[found]!.finishedSteps ? i : found;
    }, undefined);
    if (worst === undefined) return rest;
    rest.splice(worst, 1);
  }
}

/** Finds the only holder of the newest state. Replicas of one generation differ by at most one step. */
function soleHolder(members: readonly MemberRecord[]): MemberRecord | undefined {
  const [first, second] = [...members].sort((a, b) => b.finishedSteps - a.finishedSteps);
  return first !== undefined && first.finishedSteps - (second?.finishedSteps ?? 0) > 1 ? first : undefined;
}
