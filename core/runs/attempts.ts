import type { AttemptUsage, TrainingAttempt } from "./shapes";
import { type TrainingFailure, userCodeFailure } from "./training-task";

export interface JobOutcome {
  readonly status: "running" | "succeeded" | "failed";
  /** Every failed worker lost its host or requested a restart. Such failures do not count as retries. */
  readonly hostLoss: boolean;
  readonly reason?: string;
}

export type NextMove =
  | { readonly move: "succeed" }
  | { readonly move: "wait" }
  /** The job ends, and the next call decides. */
  | { readonly move: "terminate"; readonly why: string }
  /** `why`: the reason for the attempt's end. */
  | { readonly move: "resubmit"; readonly market: "spot" | "on-demand"; readonly why: string }
  | { readonly move: "fail"; readonly code: string; readonly message: string; readonly why: string };

/** The reason of an attempt that ended by the loss of its hosts. */
export const hostLossReason = "host lost";

export const noCapacityReason = "no spot capacity in time";

/** Begin of the reason of a job that waits until this machine has free workers (the embedded Batch). */
export const workersBusyReason = "WORKERS_BUSY";

/** Maximum wait of a spot attempt for its first worker, unless the job says otherwise. */
export const defaultMaxWaitMinutes = 60;

/** Explanations of exit codes of Node, by code. */
const aborts: Readonly<Record<string, string>> = {
  133: ". Code 133 is a limit of JavaScript, such as an array that grows without end; the job's log has 'Fatal JavaScript invalid size'",
  134: ". Code 134 is an abort: if the job's log says 'heap out of memory', raise resources.memoryMbPerWorker (docs/jobs.md#memory)",
};

/** Number of host losses, beyond Batch's own attempts, after which the run stays on-demand permanently. */
const lossesBeforeOnDemand = 3;
/** Consecutive losses on-demand, whose hosts are not reclaimed: they have another cause, and each costs money. */
const lossesOnDemand = 3;

/**
 * Decides how a run's training continues, given all known facts. Pure, so that late, repeated and lost events lead to
 * the same decision.
 *
 * The result object is authoritative: a result means success, whatever the state of the Batch job is. Spot losses and
 * waits for capacity never use up the user's retries. The last attempt is on-demand, where hosts are not reclaimed.
 * @param known.job job of the latest attempt, read before the result
 * @param known.waitedMs time for which the latest attempt has waited for its first worker
 */
export function decideNextMove(facts: {
  readonly hasResult: boolean;
  readonly failure: TrainingFailure | undefined;
  readonly job: JobOutcome;
  readonly attempts: readonly TrainingAttempt[];
  readonly retries: number;
  readonly waitedMs?: number | undefined;
  readonly maxWaitMs?: number;
}): NextMove {
  const { hasResult, failure, job, attempts, retries, waitedMs = 0, maxWaitMs = Number.POSITIVE_INFINITY } = facts;
  if (hasResult) return { move: "succeed" };
  // The other workers would compute the same with the same code, and must not wait for the worker that failed.
  if (failure?.code === userCodeFailure) {
    return { move: "fail", code: failure.code, message: failure.message, why: failure.message };
  }
  const market = attempts.at(-1)?.market ?? "spot";
  if (job.status === "running") {
    const isLate = market === "spot" && waitedMs >= maxWaitMs && !job.reason?.startsWith(workersBusyReason);
    return isLate ? { move: "terminate", why: noCapacityReason } : { move: "wait" };
  }
  if (job.reason === noCapacityReason && !failure) {
    return { move: "resubmit", market: "on-demand", why: noCapacityReason };
  }

  // The latest attempt is the one to decide on. A call that died may already have marked it as failed.
  const failed = attempts.slice(0, -1).filter((attempt) => attempt.status === "failed");
  const lost = failed.filter((attempt) => attempt.reason === hostLossReason);
  if (job.hostLoss && !failure) {
    if (market === "on-demand" && lost.filter((attempt) => attempt.market === market).length + 1 >= lossesOnDemand) {
      const message = `${lossesOnDemand} on-demand attempts lost their hosts or left their gang, and AWS does not reclaim on-demand instances: check the history of the instances (memory, disk, health checks)`;
      return { move: "fail", code: "HOSTS_LOST", message, why: hostLossReason };
    }
    const goes = lost.length + 1 >= lossesBeforeOnDemand ? "on-demand" : market;
    return { move: "resubmit", market: goes, why: hostLossReason };
  }
  const reason = job.reason ?? "no reason given";
  if (!failure && reason.includes("OutOfMemoryError")) {
    // A new attempt would need as much.
    const message = `a worker needed more memory than it has: ${reason}. Raise resources.memoryMbPerWorker (docs/jobs.md#memory)`;
    return { move: "fail", code: "OUT_OF_MEMORY", message, why: message };
  }
  const abort = Object.entries(aborts).find(([code]) => reason.includes(`with code ${code}`))?.[1] ?? "";
  const code = failure?.code ?? "TRAINER_EXITED";
  const message = failure?.message ?? `the workers ended without a result: ${reason}${abort}`;
  if (failure && !failure.retryable) return { move: "fail", code, message, why: message };
  const used = failed.filter(({ reason }) => reason !== hostLossReason && reason !== noCapacityReason).length;
  if (used >= retries) return { move: "fail", code, message, why: message };
  return { move: "resubmit", market: used + 1 >= retries ? "on-demand" : market, why: message };
}

/** Returns the job's outcome from the attempt's own row if it has ended. Batch deletes jobs after a week. */
export function recordedOutcome(attempt: TrainingAttempt): JobOutcome | undefined {
  if (attempt.status === "succeeded") return { status: "succeeded", hostLoss: false };
  if (attempt.status !== "failed") return undefined;
  return { status: "failed", hostLoss: attempt.reason === hostLossReason, reason: attempt.reason };
}

export interface AttemptEnd {
  readonly status: "succeeded" | "failed";
  readonly reason?: string;
  readonly at: string;
  /** Given if the attempt's row does not have it yet. */
  readonly jobId?: string;
  /** Added, in the same write, to the team's usage in the month of `at`. */
  readonly usage?: AttemptUsage;
}

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
  /** Takes over the attempt of a dead process. Returns false if another was faster, or the job is known. */
  takeOverAttempt(runId: string, attempt: number, claimedAt: string, at: string): Promise<boolean>;
  /** Returns false if the attempt has a job, or it or the run has ended. */
  recordJob(runId: string, attempt: number, jobId: string): Promise<boolean>;
  /** Completes the attempt once; the first end stays. Returns false if it had already ended. */
  completeAttempt(runId: string, attempt: number, end: AttemptEnd): Promise<boolean>;
  monthUsage(month: string): Promise<MonthUsage>;
}
