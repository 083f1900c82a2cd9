import type { Objective, ObservedTrial } from "../history";
import type { Point, Space } from "../space";

/** Suggests settings. A pure function: the same history and trial number give the same point. */
export interface Sampler {
  /** Whether a suggestion depends on the results of other trials. */
  readonly usesHistory: boolean;
  /**
   * Returns the settings of a trial; `undefined` if all are tried.
   *
   * @param history the trials that the sampler may know, in order of their numbers
   */
  suggest(history: readonly ObservedTrial[], number: number): Point | undefined;
}

/** The fixed inputs of a sampler. */
export interface SamplerContext {
  readonly space: Space;
  readonly objectives: readonly Objective[];
  readonly seed: number;
}
