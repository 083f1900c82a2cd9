/** The next move of a member, and what rank 0 of a training generation finds: pure functions of the records in the store. */
import { canMeet, isSameRegistration, type MemberStatus, statusesIn, successions, thatCanMeet } from "./members";
import type { GangHead, GangRecords, MemberRecord, RegistrationKey, SealedMember } from "./store";
import type { RendezvousTiming } from "./timing";

/** The deciding member. It is inside `enter` and has registered. */
interface Self extends RegistrationKey {
  /** Generations up to this number are over for the member: it has trained in them, or could not connect. */
  readonly past: number;
}

export interface GangLimits {
  readonly minWorkers: number;
  /** Maximum size of a generation: expected workers, at most V. */
  readonly maxWorkers: number;
}

export type Decision =
  /** The run's result is stored. */
  | { readonly kind: "completed" }
  /** Another process has since registered under this id, or as a later attempt of the same job. */
  | { readonly kind: "superseded" }
  /** The member's own item is missing, reported lost or expired. */
  | { readonly kind: "register" }
  | { readonly kind: "enter"; readonly head: GangHead; readonly rank: number }
  | { readonly kind: "seal"; readonly number: number; readonly members: readonly SealedMember[] }
  | { readonly kind: "wait"; readonly reason: string };

const wait = (reason: string): Decision => ({ kind: "wait", reason });

/** Decides a member's next action inside `enter`; pure. Safety depends only on the store's conditions. */
export function decide(
  records: GangRecords,
  self: Self,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
): Decision {
  const status = statusesIn(records, now, timing);
  return decideOwn(records, self, status) ?? decideSeal(records, self, limits, timing, now, status);
}

/** Decides from the head and the own item alone. Decisions that need the other items wait. */
export function decideFromHead(records: GangRecords, self: Self, timing: RendezvousTiming, now: number): Decision {
  return decideOwn(records, self, statusesIn(records, now, timing)) ?? wait("not its turn to look at the whole gang");
}

/** Decides from the head and the own item; `undefined` if the decision depends on the others. */
function decideOwn(
  records: GangRecords,
  self: Self,
  status: (member: MemberRecord) => MemberStatus,
): Decision | undefined {
  const { head } = records;
  if (head?.completed) return { kind: "completed" };
  const mine = records.members.find(({ memberId }) => memberId === self.memberId);
  if (mine && (mine.incarnation !== self.incarnation || successions(records.members)(mine)))
    return { kind: "superseded" };
  if (head && head.number > self.past) {
    // Registrations are not compared: a list may be sealed from a read just before this member registered again.
    const rank = head.members.findIndex(
      ({ memberId, incarnation }) => memberId === self.memberId && incarnation === self.incarnation,
    );
    if (rank >= 0) return { kind: "enter", head, rank };
  }
  if (!mine || !isSameRegistration(mine, self) || status(mine) !== "ready") return { kind: "register" };
  return undefined;
}

function decideSeal(
  records: GangRecords,
  self: Self,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
  status: (member: MemberRecord) => MemberStatus,
): Decision {
  const { head } = records;
  const ready = records.members.filter((member) => status(member) === "ready");
  // These members are still in their generation, as far as others can see.
  const pending = records.members.filter((member) => status(member) === "sealed");
  const before = new Set(head?.members.map(({ memberId }) => memberId));
  const survivors = ready.filter(({ memberId }) => before.has(memberId));

  // A generation needs all its members, so a returned member ends it. Without one, the members may still be training.
  if (pending.length > 0 && survivors.length === 0) return wait(`generation ${head!.number} is training`);
  if (ready.length < limits.minWorkers)
    return wait(`${ready.length} of at least ${limits.minWorkers} workers are here`);

  const meeting = new Set(thatCanMeet([...ready].sort(byWorker), now));
  if (meeting.size < limits.minWorkers) for (const member of ready) meeting.add(member); // reports may be outdated
  if (ready.some((member) => member.memberId === self.memberId && !meeting.has(member)))
    return wait("it and another cannot reach each other");
  const chosen = choose(
    ready.filter((member) => meeting.has(member)),
    survivors.filter((member) => meeting.has(member)),
    limits.maxWorkers,
  );
  const turn = chosen.findIndex(({ memberId }) => memberId === self.memberId);
  if (turn < 0) return wait(`the gang is full with ${limits.maxWorkers} workers`);

  const sealAt = lastCallEnds(ready, survivors, pending.length, limits, timing) + turn * timing.turnMs;
  if (now < sealAt) return wait("last call");
  return { kind: "seal", number: (head?.number ?? 0) + 1, members: chosen.map(toSealed) };
}

function lastCallEnds(
  ready: readonly MemberRecord[],
  survivors: readonly MemberRecord[],
  pending: number,
  limits: GangLimits,
  timing: RendezvousTiming,
): number {
  if (survivors.length > 0) {
    const firstBack = Math.min(...survivors.map(({ registeredAt }) => registeredAt));
    return firstBack + (pending > 0 ? timing.survivorCallMs : 0);
  }
  const arrivals = ready.map(({ registeredAt }) => registeredAt).sort((a, b) => a - b);
  if (arrivals.length >= limits.maxWorkers) return arrivals[limits.maxWorkers - 1]!;
  return arrivals[limits.minWorkers - 1]! + timing.firstCallMs;
}

/** Chooses members: holders of the state first if not all fit. Ranks follow worker indices, so they stay stable. */
function choose(
  ready: readonly MemberRecord[],
  survivors: readonly MemberRecord[],
  maxWorkers: number,
): readonly MemberRecord[] {
  const holders = new Set(survivors);
  const newcomers = ready.filter((member) => !holders.has(member)).sort(byWorker);
  return [...[...survivors].sort(byWorker), ...newcomers].slice(0, maxWorkers).sort(byWorker);
}

function byWorker(a: MemberRecord, b: MemberRecord): number {
  return a.workerIndex - b.workerIndex || (a.memberId < b.memberId ? -1 : 1);
}

function toSealed(member: MemberRecord): SealedMember {
  const { memberId, incarnation, registration, workerIndex, host, port, pid, finishedSteps } = member;
  return { memberId, incarnation, registration, workerIndex, host, port, pid, finishedSteps };
}

/**
 * Result of a training generation's check of the store.
 * - `superseded`: there is a newer generation; this one must be abandoned.
 * - `joiner`: a member waits that fits in and that all can reach; re-form at the next step boundary.
 */
type Check = "superseded" | "joiner" | "quiet";

export function monitor(
  records: GangRecords,
  generation: number,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
): Check {
  const { head } = records;
  if (!head || head.number < generation) return "quiet";
  if (head.number > generation) return "superseded";
  if (head.members.length >= limits.maxWorkers) return "quiet";
  const status = statusesIn(records, now, timing);
  const inside = records.members.filter((member) => head.members.some((sealed) => isSameRegistration(sealed, member)));
  const joins = (member: MemberRecord) =>
    status(member) === "ready" && inside.every((other) => canMeet(member, other, now));
  return records.members.some(joins) ? "joiner" : "quiet";
}
