import type { OperationalMetric } from "./metrics";

/** Values of one moment. Several of one metric are a distribution. */
export type Measures = Readonly<Partial<Record<OperationalMetric, number | readonly number[]>>>;

/**
 * Where operational metrics go. It keeps no state and asks for no answer: whoever measures something that must be counted once calls it right
 * after the conditional write that makes it so. A process that dies between the two counts once too few, never once too many.
 */
export interface Meter {
  /**
   * @param team whose doing it is; left out for what is the platform's
   * @param about ids that a person may look for, not dimensions: `runId`, …
   */
  emit(measures: Measures, team?: string, about?: Readonly<Record<string, string | number>>): void;
}
