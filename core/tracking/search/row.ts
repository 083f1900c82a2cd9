import { BoundedMap } from "../../bounded-map";
import type { MetricSummary } from "../metric-store";
import type { RunRecord } from "../shapes";
import type { MetricAspect } from "./expression";
import { metricNameSets, type NameSet, paramNameSets } from "./names";
import type { SearchedRun } from "./query";

/** A run as a search reads it: names shared with similar runs, numbers in one array. */
export interface SearchRow {
  readonly record: RunRecord;
  readonly paramNames: NameSet;
  readonly metricNames: NameSet;
  /** Five numbers for each metric, in the order of the names: last, min, max, and step and time of the last. */
  readonly metrics: Float64Array;
}

/** Number of stored numbers of a metric. */
export const metricWidth = 5;
export const perMetric = 5;
export const metricOffsets: Readonly<Record<MetricAspect, number>> = { last: 0, min: 1, max: 2, step: 3 };

/** Makes the rows of an index. Rows share equal parts: jobs, environments, names, short texts. */
export class RowMaker {
  private readonly params = paramNameSets();
  private readonly metrics = metricNameSets();
  private readonly shared = new BoundedMap<string, unknown>(1_000);

  make(record: RunRecord, summaries: readonly MetricSummary[]): SearchRow {
    const metricNames = this.metrics.of(summaries.map((one) => one.metric));
    const metrics = new Float64Array(metricNames.names.length * metricWidth);
    for (const { metric, last, min, max, lastStep, lastTime } of summaries) {
      const { position } = metricNames.resolve(metric, true);
      metrics.set([last, min, max, lastStep, lastTime], position * metricWidth);
    }
    return {
      record: this.compact(record),
      paramNames: this.params.of(Object.keys(record.params)),
      metricNames,
      metrics,
    };
  }

  /** Shares the parts that most runs of an experiment have in common. */
  private compact(record: RunRecord): RunRecord {
    const { job, environment, code, datasets } = record;
    return {
      ...record,
      ...(job === undefined ? {} : { job: this.share(job) }),
      environment: this.share(environment),
      code: this.share(code),
      datasets: datasets.map((one) => this.share(one)),
    };
  }

  private share<T>(value: T): T {
    const key = JSON.stringify(value);
    const known = this.shared.get(key);
    if (known !== undefined) return known as T;
    // Bounded, because an index may have runs with nothing in common.
    this.shared.set(key, value);
    return value;
  }
}

export function searchedRun(row: SearchRow): SearchedRun {
  const { record, metricNames, metrics } = row;
  return {
    record,
    metrics: metricNames.names.map((metric, position) => {
      const [last, min, max, lastStep, lastTime] = metrics.subarray(position * perMetric, (position + 1) * perMetric);
      return { metric, last: last!, min: min!, max: max!, lastStep: lastStep!, lastTime: lastTime! };
    }),
  };
}
