import type { Objective } from "../history";

/** The facts of a study on which successive halving depends. */
export interface HalvingContext {
  /** Epochs at which trials are compared, ascending. The last one is the maximum. */
  readonly rungs: readonly number[];
  /** η: one of `factor` trials leaves a rung. */
  readonly factor: number;
  readonly objective: Objective;
  /** Whether the sampler looks at results. Brackets then begin one after the other. */
  readonly usesHistory: boolean;
}

/** Returns the epochs R / η^k, rounded, from the smallest that is at least `minEpochs` up to R. */
export function rungsOf(minEpochs: number, maxEpochs: number, factor: number): readonly number[] {
  const rungs: number[] = [];
  for (let divisor = 1; maxEpochs / divisor >= minEpochs; divisor *= factor) {
    rungs.unshift(Math.round(maxEpochs / divisor));
  }
  return rungs;
}
