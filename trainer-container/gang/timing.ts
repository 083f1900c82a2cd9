/** Waits of a gang's members for each other, in milliseconds. docs/gang.md has the reasons. */
export interface RendezvousTiming {
  /** A member whose lease was not renewed for this long is lost. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** A training member keeps its place this long after its lease expired: computation may block its event loop. */
  readonly trainingGraceMs: number;
  /** Last call at the first formation, from the time that `minWorkers` are present. */
  readonly firstCallMs: number;
  /** Last call at a re-formation, for survivors that have not come back yet. */
  readonly survivorCallMs: number;
  /** The n-th member in line seals n times this much later than the first. Usually one writes; if it dies, another does. */
  readonly turnMs: number;
  /** Gangs with more expected workers share the store's throughput by turns (see `timingOf`). */
  readonly largeGangWorkers: number;
}

export const defaultRendezvousTiming: RendezvousTiming = {
  leaseMs: 6_000,
  renewMs: 2_000,
  trainingGraceMs: 14_000,
  firstCallMs: 3_000,
  survivorCallMs: 300,
  turnMs: 150,
  largeGangWorkers: 64,
};

/** The recent maximum: each smaller measurement reduces it by a tenth of the difference. */
export class Slowest {
  private ms = 0;

  get value(): number {
    return this.ms;
  }

  add(ms: number): void {
    this.ms = Math.max(ms, this.ms * 0.9);
  }
}

/** Measurements of one member. The others compute micro-batches of the same shape and use the same store. */
interface Pace {
  /** Milliseconds of a call to the store: the recent maximum. */
  readonly storeMs: number;
  /** Milliseconds to compute a micro-batch: the recent maximum. A member receives nothing during this time. */
  readonly microBatchMs: number;
}

/** Factor on the estimate. The gang continues without a later survivor, which costs another generation. */
const margin = 2;
/** A survivor reports the lost member, then registers. */
const storeCalls = 2;

/** Sets the last call for survivors: long enough for a micro-batch that had just begun when the generation broke. */
export function withSurvivorCall<T extends RendezvousTiming>(timing: T, { storeMs, microBatchMs }: Pace): T {
  const back = microBatchMs + storeCalls * storeMs;
  const longest = timing.leaseMs + timing.trainingGraceMs;
  return { ...timing, survivorCallMs: Math.max(timing.survivorCallMs, Math.min(longest, margin * back)) };
}

/**
 * Timing of large gangs. A partition supports 3,000 read and 1,000 write units a second, and a read of W members costs
 * W / 10. So few members read the whole gang, in turns, the others the head and their own item. Safety depends on the
 * head's condition alone.
 */

/** Milliseconds per worker. Each value limits the total load on the partition to a share of its capacity. */
const perWorker = {
  /** 4 callers at this interval: 800 read units a second for any W. */
  callMs: 0.5,
  /** 2 read units each: 1,000 a second. */
  readHeadMs: 2,
  /** 100 write units a second. */
  renewMs: 10,
  /** All survivors write once before they are back, at 1,000 a second, with room for retries. */
  survivorCallMs: 3,
  firstCallMs: 5,
  monitorMs: 2,
};
/** Members that read the whole gang often. Usually the first seals; if it died, the second does. */
const callers = 4;
/** Ranks after a lost one that report it. If all did, each loss would cost W writes. */
const reporters = 8;

export function isLargeGang(workers: number, timing: RendezvousTiming): boolean {
  return workers > timing.largeGangWorkers;
}

/** Returns the longer waits of a large gang, or the unchanged timing of a small one. */
export function timingOf<T extends RendezvousTiming & { readonly monitorMs: number }>(timing: T, workers: number): T {
  if (!isLargeGang(workers, timing)) return timing;
  const renewMs = Math.max(timing.renewMs, workers * perWorker.renewMs);
  return {
    ...timing,
    renewMs,
    leaseMs: Math.max(timing.leaseMs, 3 * renewMs),
    firstCallMs: Math.max(timing.firstCallMs, workers * perWorker.firstCallMs),
    survivorCallMs: Math.max(timing.survivorCallMs, workers * perWorker.survivorCallMs),
    monitorMs: Math.max(timing.monitorMs, workers * perWorker.monitorMs),
  };
}

/**
 * Milliseconds between two reads of the whole gang. Each next group in line is twice as large and reads a quarter as
 * often, so the sum is bounded.
 */
export function wholeLookMs(position: number, workers: number): number {
  const group = position < callers ? 0 : 1 + Math.floor(Math.log2(position / callers));
  return workers * perWorker.callMs * 4 ** group;
}

/** Returns the milliseconds between two reads of the head by a member of a large gang. */
export function readHeadMs(workers: number): number {
  return workers * perWorker.readHeadMs;
}

/** Whether this rank reports the loss of another to the store. An unreported loss costs the re-formation its last call. */
export function reportsLoss(rank: number, culprit: number, worldSize: number, timing: RendezvousTiming): boolean {
  return !isLargeGang(worldSize, timing) || (rank - culprit + worldSize) % worldSize <= reporters;
}
