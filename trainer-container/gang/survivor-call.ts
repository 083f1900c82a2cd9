import type { RendezvousTiming } from "./timing";

/** Measurements of one member. The others compute micro-batches of the same shape and use the same store. */
export interface Pace {
  /** Milliseconds of a call to the store: the recent maximum. */
  readonly storeMs: number;
  /** Milliseconds to compute a micro-batch: the recent maximum. A member receives nothing during this time. */
  readonly microBatchMs: number;
}

/** Factor on the estimate. The gang continues without a later survivor, which costs another generation. */
const margin = 2;
/** A survivor reports the lost member, then registers. */
const storeCalls = 2;

/**
 * Sets the last call for survivors: long enough for a member that had just begun a micro-batch when the generation broke.
 * The limit is the time for which a training member keeps its place. Only a survivor that is dead without a loss report
 * makes the others wait this long.
 */
export function withSurvivorCall<T extends RendezvousTiming>(timing: T, { storeMs, microBatchMs }: Pace): T {
  const back = microBatchMs + storeCalls * storeMs;
  const longest = timing.leaseMs + timing.trainingGraceMs;
  return { ...timing, survivorCallMs: Math.max(timing.survivorCallMs, Math.min(longest, margin * back)) };
}
