// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type {
  Instant,
  MetricPoint,
  MetricSummaries,
  MetricSummary,
  MetricValue,
  MetricView,
  Phase,
  RunCode,
  RunDataset,
  RunRecord,
  RunStatus,
  Sha256,
} from "./shared";

/** A file of a run, or a directory of files' names. */
export interface ArtifactEntry {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly bytes?: number;
  readonly sha256?: Sha256;
}

export interface ArtifactList {
  readonly artifacts: readonly ArtifactEntry[];
}

export interface ArtifactUrl {
  readonly path: string;
  readonly url: string;
  readonly sha256: Sha256;
  readonly bytes: number;
  readonly contentType?: string;
}

export interface ArtifactsAnswer {
  readonly artifacts: readonly ArtifactEntry[];
}

export interface ArtifactsRequest {
  readonly artifacts: readonly {
    /** Relative, of normal form, at most 1,000 bytes: `model/weights.safetensors`. */
    readonly path: string;
    readonly sha256: Sha256;
    readonly contentType?: string;
  }[];
}

export interface CompareRequest {
  readonly runs?: readonly string[];
  /** The best of a search by a metric's last value. */
  readonly top?: {
    readonly metric: string;
    /** What the metric's name says, where it says anything. */
    readonly goal?: "min" | "max";
    readonly count?: number;
    readonly experiments?: readonly string[];
    readonly filter?: string;
  };
  /** What the others' metrics are compared with. */
  readonly baseline?: string;
  /** All, where none is named. */
  readonly metrics?: readonly string[];
  readonly goals?: Readonly<Record<string, "min" | "max">>;
  readonly axis?: "step" | "time" | "relative-time";
  /** Of a curve, at most; fewer where there are many curves; 0: no curves. */
  readonly points?: number;
  readonly format?: "json" | "markdown" | "html";
}

/** Runs side by side. */
export interface Comparison {
  readonly runs: readonly {
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
    readonly startedAt: number;
    readonly endedAt?: number;
  }[];
  readonly baseline?: string;
  readonly rankedBy?: {
    readonly metric: string;
    /** Whether less or more is better. */
    readonly goal: "min" | "max";
  };
  readonly params: {
    readonly differing: readonly ComparisonRow[];
    readonly common: readonly {
      readonly name: string;
      readonly value: string;
    }[];
  };
  readonly metrics: readonly {
    readonly metric: string;
    /** Whether less or more is better. */
    readonly goal?: "min" | "max";
    readonly values: readonly (ComparisonCell | null)[];
    /** Ids of the runs whose last value is best. */
    readonly best: readonly string[];
  }[];
  readonly curves: readonly {
    readonly metric: string;
    readonly axis: "step" | "time" | "relative-time";
    readonly series: readonly ComparisonSeries[];
  }[];
  readonly differences: {
    readonly code: readonly ComparisonRow[];
    readonly data: readonly ComparisonRow[];
    readonly environment: readonly ComparisonRow[];
  };
}

export interface ComparisonCell {
  readonly last: MetricValue;
  readonly lastStep: number;
  readonly min: MetricValue;
  readonly max: MetricValue;
  /** Of the last value to the baseline's. */
  readonly delta?: number;
  /** As a part of the baseline's size. */
  readonly relativeDelta?: number;
}

/** A field of all runs, in their order; null where one has none. */
export interface ComparisonRow {
  readonly name: string;
  readonly values: readonly (string | null)[];
}

/** Parallel columns, ascending by x; downsampled (min/max kept). */
export interface ComparisonSeries {
  readonly runId: string;
  readonly x: readonly number[];
  readonly y: readonly MetricValue[];
  /** How many points there are. */
  readonly total: number;
}

export interface LogMetricsAnswer {
  /** The writer's batch of that sequence was stored before; nothing was written. */
  readonly duplicate: boolean;
}

export interface LogMetricsRequest {
  /** Who sends, of those who send to this run. With `sequence` a batch that comes again is known, and nothing of it is stored. */
  readonly writer?: string;
  /** The batch's number among the writer's. */
  readonly sequence?: number;
  readonly series: readonly LoggedSeries[];
}

export interface LogRunRequest {
  readonly experimentId?: string;
  /** By name; `Default` where neither is said. */
  readonly experiment?: string;
  /** The run's id where it is left out. */
  readonly name?: string;
  readonly status?: RunStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
  /** Milliseconds since the epoch; of a run that has ended, now. */
  readonly endedAt?: number;
  readonly params?: Readonly<Record<string, string>>;
  readonly tags?: Readonly<Record<string, string>>;
  /** Markdown. */
  readonly notes?: string;
  /** First values, at step 0 and the run's start. */
  readonly metrics?: Readonly<Record<string, MetricValue>>;
  readonly parentRunId?: string;
  readonly datasets?: readonly RunDatasetInput[];
  readonly code?: RunCode;
  readonly lockfileSha256?: Sha256;
  readonly seed?: number;
}

export type LoggedMetrics = MetricSummaries | MetricView;

/** Parallel columns: the i-th point is (steps[i], values[i], times[i]). Without times all are of the moment of the call. */
export interface LoggedSeries {
  /** A metric's name. */
  readonly metric: string;
  readonly steps: readonly number[];
  readonly values: readonly MetricValue[];
  readonly times?: readonly number[];
}

export interface MetricHistoryPage {
  readonly points: readonly MetricPoint[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface ParamsRequest {
  readonly params: Readonly<Record<string, string>>;
}

export interface RunChange {
  readonly name?: string;
  /** Markdown. */
  readonly notes?: string;
  /** Tags to set; null takes one off. Others stay. */
  readonly tags?: Readonly<Record<string, string | null>>;
  readonly status?: RunStatus;
  /** Milliseconds since the epoch. */
  readonly endedAt?: number;
}

/** Data that a run read, as its client tells of it. */
export interface RunDatasetInput {
  readonly name: string;
  readonly digest: string;
  /** Of a dataset that is registered here. */
  readonly version?: number;
  readonly sourceType?: string;
  readonly source?: string;
  readonly schema?: string;
  readonly profile?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface RunRecordAnswer {
  readonly run: RunRecord;
}

export interface RunSearchPage {
  readonly runs: readonly SearchedRun[];
  /** How many runs meet the query, on this page and all others. */
  readonly total: number;
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

export interface RunSearchRequest {
  /** By id or by name; all of the team's where none is named. */
  readonly experiments?: readonly string[];
  /** Empty: every run. */
  readonly filter?: string;
  /** `metrics.val_loss ASC`, …; then newest first. Runs without the value come last. */
  readonly orderBy?: readonly string[];
  /** How many, at most. */
  readonly limit?: number;
  /** `nextToken` of the page before. */
  readonly pageToken?: string;
  readonly view?: "active" | "deleted" | "all";
}

/** A run's record without its job (whose leaves are params) and environment. */
export interface RunSummary {
  readonly runId: string;
  readonly team: string;
  readonly experimentId: string;
  /** Trained here from a job, or told of by a client. */
  readonly source: "training" | "logged";
  readonly name: string;
  readonly status: RunStatus;
  /** Of a training run that has begun. */
  readonly phase?: Phase;
  /** Deleting is a mark that can be taken off again. */
  readonly lifecycle: "active" | "deleted";
  readonly deletedAt?: Instant;
  readonly createdBy: string;
  /** Immutable ids of the people who submitted it, where they are known. */
  readonly submitters?: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds since the epoch: when a training run first waited for an approval, the end of its own work. */
  readonly awaitingSince?: number;
  /** Milliseconds since the epoch. */
  readonly endedAt?: number;
  /** Written once each; of a training run its job's leaves by dotted path, too. */
  readonly params: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  /** Markdown. */
  readonly notes: string;
  readonly parentRunId?: string;
  readonly datasets: readonly RunDataset[];
  readonly modelInputs: readonly string[];
  readonly modelOutputs: readonly {
    readonly modelId: string;
    readonly step: number;
  }[];
  readonly code: RunCode;
  readonly seed?: number;
  readonly artifactUri: string;
  /** Of a training run that has trained. */
  readonly weightsSha256?: Sha256;
  /** Id of the run whose training, with its metrics, this training run reuses. */
  readonly reusedFrom?: string;
  readonly revision: number;
}

export interface SearchedRun {
  readonly run: RunSummary;
  /** By name. */
  readonly metrics: readonly MetricSummary[];
}
