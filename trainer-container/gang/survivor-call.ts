import type { RendezvousTiming } from "./timing";

/** What a member has measured of itself; the others compute microshards of the same shape and write to the same store. */
export interface Pace {
  /** Milliseconds of a call to the store, the slowest of late. */
  readonly storeMs: number;
  /** Milliseconds of computing a microshard, the slowest of late: nothing else is heard of meanwhile. */
  readonly microshardMs: number;
}

/** Who is back later than this times the reckoning is gone on without, and costs another generation. */
const margin = 2;
/** It says who was lost, then registers. */
const storeCalls = 2;

/**
 * The last call for survivors, long enough for one that had just begun a microshard when the generation broke. Bounded by what a member that
 * trains holds its place for. Only a survivor that is dead, unknown to all, makes the others wait for it.
 */
export function withSurvivorCall<T extends RendezvousTiming>(timing: T, { storeMs, microshardMs }: Pace): T {
  const back = microshardMs + storeCalls * storeMs;
  const longest = timing.leaseMs + timing.trainingGraceMs;
  return { ...timing, survivorCallMs: Math.max(timing.survivorCallMs, Math.min(longest, margin * back)) };
}
