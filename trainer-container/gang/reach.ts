import type { MemberRecord, Unreachable } from "./model";

const firstMs = 15_000;
const maxMs = 600_000;

/**
 * Members to which this member repeatedly failed to connect. A single failure means little: the other may just have
 * died. From the second in a row the two are separated for a while, twice as long after each further failure. Otherwise
 * a gang with one broken link would spend five of six seconds on failed connections.
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
 * Selects members that can all reach each other. The member with the most conflicts is left out first. Of a pair, the one
 * with fewer finished steps is left out, otherwise the later in line. The only holder of the run's newest state always
 * stays.
 *
 * @param members in line
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
