import type { ArmSums } from "./sequential-test";

/** What became of one unit: a click, a sale, an error. */
export interface Outcome {
  readonly unit: string;
  readonly version: number;
  readonly value: number;
}

export interface Reported {
  /** Units that had not reported in this epoch. */
  readonly counted: number;
  /** Units that had: their first outcome stands. */
  readonly repeated: number;
}

/**
 * The port to outcomes of a team's canaries. A unit counts once an epoch, whatever the number of its outcomes or of their reports: the test is about
 * units that are independent of one another, and a report may be sent again.
 */
export interface OutcomeRepository {
  report(model: string, epoch: number, outcomes: readonly Outcome[], at: number): Promise<Reported>;
  /** By version. */
  sums(model: string, epoch: number): Promise<ReadonlyMap<number, ArmSums>>;
}

export const noSums: ArmSums = { units: 0, sum: 0, sumOfSquares: 0 };
