import type { RendezvousTiming } from "./timing";

/** Measurements of one member. The others compute microshards of the same shape and use the same store. */
export interface Pace {
  /** Milliseconds of a call to the store: the recent maximum. */
  readonly storeMs: number;
  /** Milliseconds to compute a microshard: the recent maximum. A member receives nothing during this time. */
  readonly microshardMs: number;
}

/** Factor on the estimate. The gang continues without a later survivor, which costs another generation. */
const margin = 2;
/** A survivor reports the lost member, then registers. */
const storeCalls = 2;

/**
 * Sets the last call for survivors: long enough for a member that had just begun a microshard when the generation broke.
 * The limit is the time for which a training member keeps its place. Only a survivor that is dead without a loss report
 * makes the others wait this long.
 */
export function withSurvivorCall<T extends RendezvousTiming>(timing: T, { storeMs, microshardMs }: Pace): T {
  const back = microshardMs + storeCalls * storeMs;
  const longest = timing.leaseMs + timing.trainingGraceMs;
  return { ...timing, survivorCallMs: Math.max(timing.survivorCallMs, Math.min(longest, margin * back)) };
}
