import type { OperationalMetric } from "./metrics";

/** Values at one time. Several values of one metric are a distribution. */
export type Measures = Readonly<Partial<Record<OperationalMetric, number | readonly number[]>>>;

/**
 * Writes operational metrics. Stateless. A caller that must count something once calls it right after the conditional
 * write that makes it final. If the process dies in between, it is not counted; it is never counted twice.
 */
export interface Meter {
  /**
   * @param team the team concerned; omitted for values of the platform
   * @param about ids for searching, not dimensions: `runId`, …
   */
  emit(measures: Measures, team?: string, about?: Readonly<Record<string, string | number>>): void;
}
