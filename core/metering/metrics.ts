export type MetricUnit = "Count" | "Seconds" | "Bytes" | "None";

export interface MetricDefinition {
  readonly unit: MetricUnit;
  /** The dimension of the values in addition to the platform's name. */
  readonly by: "platform" | "team";
  /** `sum`: counts events, each once. `level`: the present state. `spread`: a distribution. */
  readonly kind: "sum" | "level" | "spread";
  readonly means: string;
}

export const metricNamespace = "Ringmaster";

const sum = (unit: MetricUnit, means: string): MetricDefinition => ({ unit, by: "team", kind: "sum", means });
const level = (means: string): MetricDefinition => ({ unit: "Count", by: "team", kind: "level", means });
const spread = (means: string): MetricDefinition => ({ unit: "Seconds", by: "team", kind: "spread", means });

/** All operational metrics: the one list that functions emit, the dashboard shows and docs/operations.md explains. */
export const operationalMetrics = {
  RunsQueued: level("open runs without a started step"),
  RunsPreparing: level("runs in ValidateDataset or PrepareFeatures"),
  RunsTraining: level("runs in LaunchTraining: their job waits or runs"),
  RunsConcluding: level("runs in Evaluate, Register, Gate or Promote"),
  RunsCompleted: sum("Count", "runs that completed, with or without a promotion"),
  RunsFailed: sum("Count", "runs that failed"),
  RunsKilled: sum("Count", "runs that were cancelled or aborted"),
  ModelsPromoted: sum("Count", "versions that an approval put into production"),
  ModelsRefusedByGate: sum("Count", "completed runs whose model a gate refused"),
  ModelsRejected: sum("Count", "versions that a person rejected"),
  RunDuration: spread("from a run's creation to its end"),
  QueueWait: spread("from a job's submission to its first worker's start"),
  WorkerHours: sum("None", "hours of workers, at the end of each attempt"),
  GpuHours: sum("None", "hours of GPUs, at the end of each attempt"),
  EstimatedDollars: sum("None", "estimated US dollars, at the end of each attempt"),
  SpotInterruptions: sum("Count", "workers whose host was taken away"),
  SpotNotices: sum("Count", "workers whose host has a notice of interruption"),
  RecoveryTime: spread("from the loss of a worker to the next finished step"),
  TriggerFired: sum("Count", "runs that a trigger started"),
  TriggerSkipped: sum("Count", "causes that a trigger skipped"),
  MonthDollars: {
    unit: "None",
    by: "team",
    kind: "level",
    means: "estimated US dollars of the attempts that ended in this calendar month (UTC)",
  },
  StoredBytes: {
    unit: "Bytes",
    by: "team",
    kind: "level",
    means: "stored objects, once a day, without deleted ones that the bucket still keeps",
  },
  ReclaimedBytes: {
    unit: "Bytes",
    by: "platform",
    kind: "sum",
    means: "content that was deleted because nothing refers to it",
  },
  JobWait: {
    unit: "Seconds",
    by: "platform",
    kind: "spread",
    means: "wait so far of jobs without a started worker, each minute",
  },
  MetricIngestLag: {
    unit: "Seconds",
    by: "platform",
    kind: "spread",
    means: "from a metric point's time to its storage",
  },
  ReconcileErrors: {
    unit: "Count",
    by: "platform",
    kind: "sum",
    means: "open runs whose reconciliation failed",
  },
  ReconcileUnreached: {
    unit: "Count",
    by: "platform",
    kind: "sum",
    means: "open runs that a reconciliation had no time for",
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type OperationalMetric = keyof typeof operationalMetrics;

/** Values at one time. Several values of one metric are a distribution. */
export type Measures = Readonly<Partial<Record<OperationalMetric, number | readonly number[]>>>;

/**
 * A caller that counts something once calls it right after the conditional write that makes it final: if the process
 * dies in between it is not counted, and it is never counted twice.
 */
export interface Meter {
  /**
   * @param team the team concerned; omitted for values of the platform
   * @param about ids for searching, not dimensions: `runId`, …
   */
  emit(measures: Measures, team?: string, about?: Readonly<Record<string, string | number>>): void;
}
