import type { AttemptUsage, TrainingAttempt } from "./run";

export interface AttemptEnd {
  readonly status: "succeeded" | "failed";
  readonly reason?: string;
  readonly at: string;
  /** Where its row does not have it yet. */
  readonly jobId?: string;
  /** Added, in the same write, to what its team has used in the month of `at`. */
  readonly usage?: AttemptUsage;
}

/** What a team's attempts that ended in a calendar month (UTC) have taken. */
export type MonthUsage = Pick<AttemptUsage, "workerSeconds" | "gpuSeconds"> & { readonly estimatedUsd: number };

/** `2026-11` */
export const monthOf = (at: string): string => at.slice(0, 7);

/**
 * The attempts of a run: `submitting` → `submitted` → `succeeded` or `failed`, each step taken once, by whoever writes it first. An attempt
 * begins, and gets its job, only while its run is open: after a run's end no job can come into its rows any more.
 */
export interface AttemptRepository {
  /** False where that attempt is there already, or the run has ended or is past its training. */
  beginAttempt(runId: string, attempt: TrainingAttempt): Promise<boolean>;
  /** Whoever claimed the attempt at `claimedAt` is dead: claims it now. False where another was faster, or the job is known. */
  takeOverAttempt(runId: string, attempt: number, claimedAt: string, at: string): Promise<boolean>;
  /** False where it has a job, has ended, or the run has. */
  recordJob(runId: string, attempt: number, jobId: string): Promise<boolean>;
  /** Ends it once: the first end stands. False where it had ended before. */
  endAttempt(runId: string, attempt: number, end: AttemptEnd): Promise<boolean>;
  /** Of the team whose port this is. */
  monthUsage(month: string): Promise<MonthUsage>;
}
