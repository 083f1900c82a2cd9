import { CorruptObjectError, findJson } from "../object-documents";
import type { ObjectStore } from "../ports";
import {
  decideNextMove,
  defaultMaxWaitMinutes,
  type JobOutcome,
  type NextMove,
  recordedOutcome,
} from "../runs/attempts";
import { JobRefusedError } from "../runs/errors";
import type { TaskTokens, TrainingJobs } from "../runs/ports";
import type { RunRepository } from "../runs/run-repository";
import { isOpen, type Phase } from "../runs/run-states";
import type { RunDetails, TrainingAttempt } from "../runs/shapes";
import type { StepDependencies } from "../runs/step";
import { trainingFailure } from "../runs/training-task";
import { workSince } from "../runs/usage";
import { type CompleteAttemptDependencies, completeAttempt } from "./complete-attempt";
import { launchAttempt, nextAttempt, takeOverAttempt } from "./launch";

export interface NextMoveDependencies extends StepDependencies, CompleteAttemptDependencies {
  readonly runs: RunRepository;
  readonly objects: ObjectStore;
  readonly tokens: TaskTokens;
}

/** The work of a run's jobs while the state of `phase` waits: the training, or an evaluation. */
export interface JobWork {
  readonly phase: Phase;
  readonly attempts: readonly TrainingAttempt[];
  /** No further attempt starts: a training that has not ended is left as it is. */
  readonly isLast?: boolean | undefined;
  failureKey(jobId: string): string;
  /** Looks for the work's result. Returns a function that records it and answers the state machine; `undefined` if there is none. */
  findResult(attempt: TrainingAttempt, waiting: readonly string[]): Promise<(() => Promise<void>) | undefined>;
}

/**
 * Inspects the latest attempt at a run's work, and continues it: answers the state machine, submits the next attempt, or
 * waits. Idempotent, and independent of the order of events.
 */
export async function makeNextMove(
  dependencies: NextMoveDependencies,
  details: RunDetails,
  work: JobWork,
): Promise<NextMove["move"]> {
  const { runs, objects, jobs, tokens } = dependencies;
  const { run } = details;
  const { runId } = run;
  const { attempts, phase } = work;
  const attempt = attempts.at(-1);
  if (!attempt || !isOpen(run.status) || run.phase !== phase) return "wait";
  const waiting = await runs.findTaskTokens(runId, phase);
  if (waiting.length === 0) return "wait";

  // The job is read before the result. A result that a worker writes in between is seen, so that its job's end is not
  // treated as a failure.
  const job = await outcomeOf(jobs, attempt);
  const fail = async (code: string, message: string, reason = message): Promise<void> => {
    if (job.status === "running" && attempt.jobId !== undefined) await jobs.terminate(attempt.jobId, reason, runId);
    await completeAttempt(dependencies, details, attempt, { status: "failed", reason }, "batch");
    await Promise.all(waiting.map((token) => tokens.fail(token, code, message)));
  };
  try {
    const recordResult = await work.findResult(attempt, waiting);
    const hasResult = recordResult !== undefined;
    const failure =
      hasResult || attempt.jobId === undefined
        ? undefined
        : await findJson(objects, work.failureKey(attempt.jobId), trainingFailure);
    const { retries, resources } = run.job;
    const waitedMs = waitOf(details, attempt, dependencies.clock.now());
    const { maxWaitMinutes = defaultMaxWaitMinutes } = resources;
    const maxWaitMs = maxWaitMinutes * 60_000;
    const next = decideNextMove({ hasResult, failure, job, attempts, retries, waitedMs, maxWaitMs });
    // The event of the worker's start was lost, or comes later.
    if (run.queuedAt !== undefined && attempt.jobId !== undefined && (hasResult || waitedMs === undefined))
      await runs.leaveQueue(runId, workSince(details, attempt));
    if (work.isLast && next.move !== "succeed" && next.move !== "fail") return "wait";
    if (next.move === "wait" && attempt.jobId === undefined) {
      await takeOverAttempt(dependencies, run, attempt);
    } else if (next.move === "wait") {
      const { team } = run;
      if (waitedMs !== undefined)
        dependencies.meter.emit({ JobWait: waitedMs / 1000 }, undefined, { runId, team, attempt: attempt.attempt });
    } else if (next.move === "terminate") {
      const message = `no spot host was available for attempt ${attempt.attempt} within ${maxWaitMinutes} minutes (resources.maxWaitMinutes): it continues on-demand`;
      await runs.recordWarning(runId, { code: "NO_SPOT_CAPACITY", message });
      if (attempt.jobId !== undefined) await jobs.terminate(attempt.jobId, next.why, runId);
    } else if (next.move === "succeed") {
      await recordResult?.();
    } else if (next.move === "resubmit") {
      await completeAttempt(dependencies, details, attempt, { status: "failed", reason: next.why }, "batch");
      await launchAttempt(dependencies, run, { ...nextAttempt(details, attempt.evaluation), market: next.market });
    } else if (next.move === "fail") {
      await fail(next.code, next.message, next.why);
    }
    return next.move;
  } catch (error) {
    // Batch refuses the job, or what user code stored is none of the documents that it may store: a repetition would
    // meet the same.
    if (!(error instanceof JobRefusedError || error instanceof CorruptObjectError)) throw error;
    await fail(error.code, error.message);
    return "fail";
  }
}

/**
 * Returns the milliseconds that an attempt has waited for its first worker; `undefined` if its job is not submitted, or a
 * worker has started. Batch itself does not measure it.
 */
function waitOf(
  { workers, progress }: Pick<RunDetails, "workers" | "progress">,
  { attempt, jobId, startedAt }: TrainingAttempt,
  now: number,
): number | undefined {
  if (jobId === undefined) return undefined;
  const ofAttempt = workers.filter((worker) => (worker.attempt ?? 1) === attempt);
  if (ofAttempt.some((worker) => worker.startedAt !== undefined || worker.attempts.length > 0)) return undefined;
  // A later trial of a shared job has no rows of workers of its own.
  if (progress?.workers.some(({ memberId }) => memberId.startsWith(jobId))) return undefined;
  return Math.max(0, now - Date.parse(startedAt));
}

async function outcomeOf(jobs: TrainingJobs, attempt: TrainingAttempt): Promise<JobOutcome> {
  const recorded = recordedOutcome(attempt);
  if (recorded) return recorded;
  return attempt.jobId === undefined ? { status: "running", hostLoss: false } : jobs.describe(attempt.jobId);
}
