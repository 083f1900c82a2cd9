import type { ArmSums } from "./sequential-test";

/** The outcome of one unit: a click, a sale, an error. */
export interface Outcome {
  readonly unit: string;
  readonly version: number;
  readonly value: number;
}

export interface Reported {
  /** Units that had not reported in this epoch. */
  readonly counted: number;
  /** Units that had already reported; their first outcome stays. */
  readonly repeated: number;
}

/**
 * The port to outcomes of a team's canaries. A unit counts once in an epoch, however many outcomes or reports it has.
 * The test needs independent units, and a report may be repeated.
 */
export interface OutcomeRepository {
  report(model: string, epoch: number, outcomes: readonly Outcome[], at: number): Promise<Reported>;
  /** Returns the sums by version. */
  sums(model: string, epoch: number): Promise<ReadonlyMap<number, ArmSums>>;
}

export const noSums: ArmSums = { units: 0, sum: 0, sumOfSquares: 0 };
