import { BoundedMap } from "../../bounded-map";
import type { MetricSummary } from "../metric-store";
import type { RunRecord } from "../shapes";
import type { MetricAspect } from "./expression";
import type { SearchedRun } from "./query";

/** A run as a search reads it: names shared with similar runs, numbers in one array. */
export interface SearchRow {
  readonly record: RunRecord;
  readonly paramNames: NameSet;
  readonly metricNames: NameSet;
  /** Five numbers for each metric, in the order of the names: last, min, max, and step and time of the last. */
  readonly metrics: Float64Array;
}

export const metricWidth = 5;
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
    const sharedValue = this.shared.get(key);
    if (sharedValue !== undefined) return sharedValue as T;
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
      const [last, min, max, lastStep, lastTime] = metrics.subarray(
        position * metricWidth,
        (position + 1) * metricWidth,
      );
      return { metric, last: last!, min: min!, max: max!, lastStep: lastStep!, lastTime: lastTime! };
    }),
  };
}

/** Names of a run's params or metrics. Most runs share one object, so a short name is resolved once for all. */
export class NameSet {
  private readonly positions: ReadonlyMap<string, number>;
  private readonly resolved = new BoundedMap<string, Resolution>(1_000);
  constructor(
    readonly names: readonly string[],
    private readonly normalise: (name: string) => string,
    private readonly matches: (normalName: string, normalShort: string) => boolean,
  ) {
    this.positions = new Map(names.map((name, position) => [name, position]));
  }

  /** Resolves a name to itself or, unless it must be exact, to the only name that it abbreviates. */
  resolve(name: string, exact: boolean): Resolution {
    const position = this.positions.get(name);
    if (position !== undefined) return { name, position };
    if (exact) return none;
    let resolution = this.resolved.get(name);
    if (resolution === undefined) {
      const short = this.normalise(name);
      const candidates = this.names.filter((one) => this.matches(this.normalise(one), short));
      const only = candidates.length === 1 ? candidates[0]! : undefined;
      resolution =
        only === undefined
          ? { position: -1, ...(candidates.length > 1 ? { ambiguous: candidates } : {}) }
          : { name: only, position: this.positions.get(only)! };
      // Bounded, because the names come from requests.
      this.resolved.set(name, resolution);
    }
    return resolution;
  }
}

export interface Resolution {
  readonly name?: string;
  /** Index of the name; −1 if there is none. */
  readonly position: number;
  /** The names that it may abbreviate, if there are several. */
  readonly ambiguous?: readonly string[];
}

const none: Resolution = { position: -1 };

class NameSets {
  private readonly byNames: BoundedMap<string, NameSet>;
  constructor(
    private readonly normalise: (name: string) => string,
    private readonly matches: (normalName: string, normalShort: string) => boolean,
    maxSets = 10_000,
  ) {
    this.byNames = new BoundedMap(maxSets);
  }

  of(names: readonly string[]): NameSet {
    const sorted = [...names].sort();
    const key = JSON.stringify(sorted);
    let set = this.byNames.get(key);
    if (set === undefined) {
      set = new NameSet(sorted, this.normalise, this.matches);
      this.byNames.set(key, set);
    }
    return set;
  }
}

/** `learning_rate` and `learningRate` are one name, and both abbreviate `hyperparameters.learningRate`. */
export function paramNameSets(): NameSets {
  return new NameSets(
    (name) => name.toLowerCase().replaceAll(/[_-]/g, ""),
    (name, short) => name === short || name.endsWith(`.${short}`),
  );
}

/** Name sets of metrics: `val_loss`, `val/loss` and `validation/loss` are the same name. */
export function metricNameSets(): NameSets {
  return new NameSets(
    (name) =>
      name
        .toLowerCase()
        .split(/[/._\s-]+/)
        .map((part) => (part === "validation" ? "val" : part))
        .join(""),
    (name, short) => name === short,
  );
}
