import type { AttemptUsage, TrainingAttempt } from "./shapes";

export interface AttemptEnd {
  readonly status: "succeeded" | "failed";
  readonly reason?: string;
  readonly at: string;
  /** Given if the attempt's row does not have it yet. */
  readonly jobId?: string;
  /** Added, in the same write, to the team's usage in the month of `at`. */
  readonly usage?: AttemptUsage;
}

/** Usage of a team's attempts that ended in a calendar month (UTC). */
export type MonthUsage = Pick<AttemptUsage, "workerSeconds" | "gpuSeconds"> & { readonly estimatedUsd: number };

/** Returns the month of a time: `2026-11`. */
export const monthOf = (at: string): string => at.slice(0, 7);

/**
 * The attempts of a run, of its training and of its evaluation by a job: `submitting` → `submitted` → `succeeded` or `failed`. Each transition happens once, by the
 * first writer. An attempt starts, and gets its job, only while its run is open. After a run's end no job can be added
 * to its rows.
 */
export interface AttemptRepository {
  /** Returns false if the attempt already exists, or the run has ended or is not in the attempt's phase. */
  beginAttempt(runId: string, attempt: TrainingAttempt): Promise<boolean>;
  /**
   * Takes over the attempt that a dead process claimed at `claimedAt`. Returns false if another process was faster, or
   * the job is known.
   */
  takeOverAttempt(runId: string, attempt: number, claimedAt: string, at: string): Promise<boolean>;
  /** Returns false if the attempt has a job, or it or the run has ended. */
  recordJob(runId: string, attempt: number, jobId: string): Promise<boolean>;
  /** Completes the attempt once; the first end stays. Returns false if it had already ended. */
  completeAttempt(runId: string, attempt: number, end: AttemptEnd): Promise<boolean>;
  /** Returns the usage of the port's team. */
  monthUsage(month: string): Promise<MonthUsage>;
}
