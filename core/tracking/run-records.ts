import type { BatchReceipt, MetricSeries } from "./metric-store";
import type { RunIdentity, RunRecord } from "./shapes";

/** Returns the changed record; `undefined` if nothing changes. If it throws, nothing changes. */
export type RunTransition = (record: RunRecord) => RunRecord | undefined;

export interface CreateOptions {
  readonly requestDigest?: string;
  readonly firstPoints?: { readonly series: readonly MetricSeries[]; readonly receipt: BatchReceipt };
}

export interface CreatedRun {
  readonly created: boolean;
  readonly record: RunRecord;
  /** If false, the caller appends the points under their receipt. */
  readonly pointsStored: boolean;
  /** Digest of the request that created the run. */
  readonly requestDigest?: string;
}

/**
 * The port to a team's records of runs, training and logged. Every change marks its run in `RunChanges` before it is
 * acknowledged, so that a search that starts afterwards sees it.
 */
export interface RunRecords {
  /** Returns a run's identity, from memory if it was read before; `undefined` if the team has no such run. */
  identify(runId: string): Promise<RunIdentity | undefined>;
  /**
   * Creates a logged run, or returns the existing one with the same id. Writes everything or nothing.
   * @param options.requestDigest digest of the request, stored with the run. A caller compares it with that of an
   * existing run.
   * @param options.firstPoints points that are written with the run if they are few enough, which the result states
   */
  create(record: RunRecord, options?: CreateOptions): Promise<CreatedRun>;
  /** Strongly consistent. */
  find(runId: string): Promise<RunRecord | undefined>;
  /** Strongly consistent. Missing runs are omitted. */
  findMany(runIds: readonly string[]): Promise<readonly RunRecord[]>;
  /**
   * Reads, applies the transition, and writes if the revision is unchanged; repeats otherwise. For a training run only
   * fields that do not follow from its state may change: name, tags, notes, lifecycle, params other than its job's,
   * inputs.
   * @throws RUN_NOT_FOUND, RUN_BUSY, and the errors of the transition
   */
  change(runId: string, transition: RunTransition): Promise<RunRecord>;
  /** Lists all runs of an experiment in pages, from an index. Changes of the last minute are in `RunChanges`. */
  list(experimentId: string): AsyncIterable<readonly RunRecord[]>;
  /** Returns one page of that list, newest start first. */
  page(
    experimentId: string,
    page: { readonly limit: number; readonly nextToken?: string },
  ): Promise<{ readonly runs: readonly RunRecord[]; readonly nextToken?: string }>;
  /** Returns the ids of the runs that name this one as their parent. */
  children(runId: string): Promise<readonly string[]>;
}

/**
 * The runs of an experiment that changed recently, by second, from which an index in memory is updated. Strongly
 * consistent. Clocks of writers may differ by `clockSkewMs`, so a reader looks back by as much.
 */
export interface RunChanges {
  /** Marks a run as changed. Called after the change is stored and before it is acknowledged. */
  mark(run: RunIdentity): Promise<void>;
  /** Returns the ids of the runs marked at or after `since` (milliseconds since the epoch), without duplicates. */
  since(experimentId: string, since: number): Promise<readonly string[]>;
}

export const clockSkewMs = 5_000;

/** Time for which marks are kept. An index that was not updated for longer is loaded again. */
export const changesKeptMs = 3_600_000;

/** Tests whether a text can be a run's id. DynamoDB refuses a longer key. */
export function canBeRunId(text: string): boolean {
  return text.length > 0 && text.length <= 256;
}
