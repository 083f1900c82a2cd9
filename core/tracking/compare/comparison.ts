import type { Phase, RunStatus } from "../../training/run";
import type { EncodedValue } from "../metric-values";

/** Whether less or more of a metric is better. */
export type Goal = "min" | "max";

/** `step`; `time`: seconds of the clock, milliseconds since the epoch; `relative-time`: seconds since the run's first point. */
export const axes = ["step", "time", "relative-time"] as const;
export type Axis = (typeof axes)[number];

/** Everything about several runs side by side. Lists of values are in the order of `runs`; `null` where a run has none. */
export interface Comparison {
  readonly runs: readonly ComparedRun[];
  readonly baseline?: string;
  /** What the runs were chosen and ordered by. */
  readonly rankedBy?: { readonly metric: string; readonly goal: Goal };
  readonly params: {
    readonly differing: readonly Row[];
    /** Of all runs the same. */
    readonly common: readonly { readonly name: string; readonly value: string }[];
  };
  readonly metrics: readonly MetricRow[];
  readonly curves: readonly Curve[];
  /** What else is not the same: fields by dotted path. */
  readonly differences: {
    readonly code: readonly Row[];
    readonly data: readonly Row[];
    readonly environment: readonly Row[];
  };
}

export interface ComparedRun {
  readonly runId: string;
  readonly name: string;
  readonly experimentId: string;
  readonly status: RunStatus;
  /** Of an open training run. */
  readonly phase?: Phase;
  readonly source: string;
  /** Id of the run whose training, with its metrics, this one reuses. */
  readonly reusedFrom?: string;
  readonly createdBy: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
}

export interface Row {
  readonly name: string;
  readonly values: readonly (string | null)[];
}

export interface MetricRow {
  readonly metric: string;
  /** Absent where its name does not tell and nobody said. */
  readonly goal?: Goal;
  readonly values: readonly (MetricCell | null)[];
  /** Of the runs whose last value is best; none where there is no goal or but one value. */
  readonly best: readonly string[];
}

export interface MetricCell {
  readonly last: EncodedValue;
  readonly lastStep: number;
  readonly min: EncodedValue;
  readonly max: EncodedValue;
  /** Of the last value to the baseline's; absent of the baseline, and where one of the two is no finite number. */
  readonly delta?: number;
  /** `delta` as a part of the baseline's size; absent where that is 0. */
  readonly relativeDelta?: number;
}

export interface Curve {
  readonly metric: string;
  readonly axis: Axis;
  readonly series: readonly CurveSeries[];
}

/** Parallel columns, ascending by `x`; extremes are kept, so that what is drawn touches what was. */
export interface CurveSeries {
  readonly runId: string;
  readonly x: readonly number[];
  readonly y: readonly EncodedValue[];
  /** How many points there are in the store. */
  readonly total: number;
}
