import type { MetricSeries } from "./metric-batch";
import type { BatchReceipt } from "./metric-store";
import type { RunIdentity, RunRecord } from "./run-record";

/** `undefined`: what was asked for is so already. May throw: then nothing changes. */
export type RunTransition = (record: RunRecord) => RunRecord | undefined;

export interface CreateOptions {
  readonly requestDigest?: string;
  readonly firstPoints?: { readonly series: readonly MetricSeries[]; readonly receipt: BatchReceipt };
}

export interface CreatedRun {
  readonly created: boolean;
  readonly record: RunRecord;
  /** Else they are to be appended under their receipt. */
  readonly pointsStored: boolean;
  /** Of the request that made it. */
  readonly requestDigest?: string;
}

/**
 * The port to a team's records of runs, training and logged. Every change marks its run in `RunChanges` before it is answered, so that a search that begins
 * afterwards sees it.
 */
export interface RunRecords {
  /** From memory where it was asked before. `undefined` where the team has no such run. */
  identify(runId: string): Promise<RunIdentity | undefined>;
  /**
   * Makes a logged run, or answers the one that is there under the same id. All of it is written, or nothing.
   * @param options.requestDigest of the request that makes it, kept with it: who made the one that is there asks so whether it was the same request
   * @param options.firstPoints are written with it where they are few enough, which the answer says
   */
  create(record: RunRecord, options?: CreateOptions): Promise<CreatedRun>;
  /** Strongly consistent. */
  find(runId: string): Promise<RunRecord | undefined>;
  /** Strongly consistent; those that are not there are left out. */
  findMany(runIds: readonly string[]): Promise<readonly RunRecord[]>;
  /**
   * Reads, decides, writes under the revision that was read; again where that was overtaken. Of a training run only what its state does not tell may
   * change: name, tags, notes, lifecycle, params beside its job's, inputs.
   *
   * @throws RunNotFoundError, RunBusyError, and what the transition throws
   */
  change(runId: string, transition: RunTransition): Promise<RunRecord>;
  /** All of an experiment, page by page, as an index has them: what changed in the last minute is in `RunChanges`. */
  list(experimentId: string): AsyncIterable<readonly RunRecord[]>;
  /** One page of the same, newest start first. */
  page(
    experimentId: string,
    page: { readonly limit: number; readonly nextToken?: string },
  ): Promise<{ readonly runs: readonly RunRecord[]; readonly nextToken?: string }>;
  /** Ids of the runs that name this one as their parent. */
  children(runId: string): Promise<readonly string[]>;
}

/**
 * Which of an experiment's runs have changed lately, by second: how an index in memory is kept true. Strongly consistent. Clocks of writers may differ by
 * `clockSkewMs`; who reads looks as far back.
 */
export interface RunChanges {
  /** To be called after the change is stored and before it is acknowledged. */
  mark(run: RunIdentity): Promise<void>;
  /** Ids of runs marked at or after `since` (milliseconds since the epoch), each once. */
  since(experimentId: string, since: number): Promise<readonly string[]>;
}

export const clockSkewMs = 5_000;

/** How far back marks are kept: an index that was not kept true for longer is loaded anew. */
export const changesKeptMs = 3_600_000;
