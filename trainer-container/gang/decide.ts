import { isSameRegistration, type Standing, standingsIn, successions } from "./member-status";
import type { GangHead, GangView, MemberRecord, SealedMember } from "./model";
import { thatCanMeet } from "./reach";
import type { RegistrationKey } from "./store";
import type { RendezvousTiming } from "./timing";

/** The member that decides; it is inside `enter` and has registered. */
export interface Self extends RegistrationKey {
  /** Generations up to this one are over for it: it has trained in them, or could not connect. */
  readonly past: number;
}

export interface GangLimits {
  readonly minWorkers: number;
  /** No generation is larger: expected workers, at most V. */
  readonly maxWorkers: number;
}

export type Decision =
  /** The run's result is stored. */
  | { readonly kind: "completed" }
  /** Another process has registered under this id since, or as a later attempt of its job. */
  | { readonly kind: "superseded" }
  /** The own item is missing, accused or lapsed. */
  | { readonly kind: "register" }
  | { readonly kind: "enter"; readonly head: GangHead; readonly rank: number }
  | { readonly kind: "seal"; readonly number: number; readonly members: readonly SealedMember[] }
  | { readonly kind: "wait"; readonly reason: string };

const wait = (reason: string): Decision => ({ kind: "wait", reason });

/**
 * What a member inside `enter` does next. Pure: the same view at the same time gives the same decision. Safety rests on the
 * store's conditions alone (one list a number, one item a member); the clock and the order of events decide only how soon.
 */
export function decide(
  view: GangView,
  self: Self,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
): Decision {
  const standing = standingsIn(view, now, timing);
  return decideOwn(view, self, standing) ?? decideSeal(view, self, limits, timing, now, standing);
}

/** The same from a glance, at the head and the own item alone: what needs the others' items waits. */
export function decideAtGlance(view: GangView, self: Self, timing: RendezvousTiming, now: number): Decision {
  return decideOwn(view, self, standingsIn(view, now, timing)) ?? wait("not its turn to look at the whole gang");
}

/** What the head and the own item say; `undefined` where it is up to the others. */
function decideOwn(view: GangView, self: Self, standing: (member: MemberRecord) => Standing): Decision | undefined {
  const { head } = view;
  if (head?.completed) return { kind: "completed" };
  const mine = view.members.find(({ memberId }) => memberId === self.memberId);
  if (mine && (mine.incarnation !== self.incarnation || successions(view.members)(mine))) return { kind: "superseded" };
  if (head && head.number > self.past) {
    // Not by registration: a list may be sealed from a look at the store just before this member registered anew.
    const rank = head.members.findIndex(
      ({ memberId, incarnation }) => memberId === self.memberId && incarnation === self.incarnation,
    );
    if (rank >= 0) return { kind: "enter", head, rank };
  }
  if (!mine || !isSameRegistration(mine, self) || standing(mine) !== "ready") return { kind: "register" };
  return undefined;
}

function decideSeal(
  view: GangView,
  self: Self,
  limits: GangLimits,
  timing: RendezvousTiming,
  now: number,
  standing: (member: MemberRecord) => Standing,
): Decision {
  const { head } = view;
  const ready = view.members.filter((member) => standing(member) === "ready");
  // Still in their generation, as far as anyone can tell.
  const pending = view.members.filter((member) => standing(member) === "sealed");
  const before = new Set(head?.members.map(({ memberId }) => memberId));
  const survivors = ready.filter(({ memberId }) => before.has(memberId));

  // A generation needs all its members, so that one that came back ends it; without one, its members may still be at work.
  if (pending.length > 0 && survivors.length === 0) return wait(`generation ${head!.number} is training`);
  if (ready.length < limits.minWorkers)
    return wait(`${ready.length} of at least ${limits.minWorkers} workers are here`);

  const meeting = new Set(thatCanMeet([...ready].sort(byWorker), now));
  if (meeting.size < limits.minWorkers) for (const member of ready) meeting.add(member); // what is known may be out of date
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

/** Those that hold the state come first where not all fit; ranks go by worker index, so that they stay put over generations. */
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
