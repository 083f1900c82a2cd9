import { findJson } from "../object-documents";
import { CorruptObjectError } from "../object-errors";
import { isoTime, type ObjectStore } from "../ports";
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
import { isOpen } from "../runs/run-states";
import type { RunDetails, TrainingAttempt } from "../runs/shapes";
import { finishStep, inputHashOf, type StepDependencies } from "../runs/step";
import type { TrainingFailure, TrainingPause, TrainingResult } from "../runs/training-task";
import { type CompleteAttemptDependencies, completeAttempt } from "./complete-attempt";
import { attemptsOfSegment, launchAttempt, nextAttempt, takeOverAttempt } from "./launch";
import { finishPause } from "./pause";
import { trainingKeys, trainingOutputOf, trainingStep } from "./training-step";

export interface CompleteTrainingDependencies extends StepDependencies, CompleteAttemptDependencies {
  readonly runs: RunRepository;
  readonly objects: ObjectStore;
  readonly tokens: TaskTokens;
}

/**
 * Inspects a run's training and continues it: answers the state machine, submits the next attempt, or waits. Called on
 * every event of its job and every minute. Idempotent, and independent of the order of events. `read` is the run as the
 * caller has just read it.
 */
export async function completeTraining(
  dependencies: CompleteTrainingDependencies,
  runId: string,
  read?: RunDetails,
): Promise<NextMove["move"]> {
  const { runs, objects, jobs, tokens } = dependencies;
  const details = read ?? (await runs.findDetails(runId));
  const attempts = details ? attemptsOfSegment(details) : [];
  const attempt = attempts.at(-1);
  if (!details || !attempt || !isOpen(details.run.status) || details.run.phase !== "LaunchTraining") return "wait";
  const waiting = await runs.findTaskTokens(runId, "LaunchTraining");
  if (waiting.length === 0) return "wait";

  // The job is read before the result. A result that a worker writes in between is seen, so that its job's end is not
  // treated as a failure.
  const job = await outcomeOf(jobs, attempt);
  const keys = trainingKeys(runId, details.run.segment);
  const result = await findJson<TrainingResult>(objects, keys.result);
  const pause = result ? undefined : await findJson<TrainingPause>(objects, keys.pause);
  const hasResult = result !== undefined || pause !== undefined;
  const failure =
    hasResult || attempt.jobId === undefined
      ? undefined
      : await findJson<TrainingFailure>(objects, keys.failure(attempt.jobId));
  const { retries, resources } = details.run.job;
  const waitedMs = waitOf(details, attempt, dependencies.clock.now());
  const { maxWaitMinutes = defaultMaxWaitMinutes } = resources;
  const maxWaitMs = maxWaitMinutes * 60_000;
  const next = decideNextMove({ hasResult, failure, job, attempts, retries, waitedMs, maxWaitMs });

  const answerFailure = (code: string, message: string) =>
    Promise.all(waiting.map((token) => tokens.fail(token, code, message)));
  try {
    if (next.move === "wait" && attempt.jobId === undefined) {
      await takeOverAttempt(dependencies, details.run, attempt);
    } else if (next.move === "wait") {
      const { team } = details.run;
      if (waitedMs !== undefined)
        dependencies.meter.emit({ JobWait: waitedMs / 1000 }, undefined, { runId, team, attempt: attempt.attempt });
    } else if (next.move === "terminate") {
      const message = `no spot host was available for attempt ${attempt.attempt} within ${maxWaitMinutes} minutes (resources.maxWaitMinutes): it continues on-demand`;
      await runs.recordWarning(runId, { code: "NO_SPOT_CAPACITY", message });
      if (attempt.jobId !== undefined) await jobs.terminate(attempt.jobId, next.why, runId);
    } else if (next.move === "succeed" && result) {
      await takeInFiles(objects, result);
      await completeAttempt(dependencies, details, attempt, { status: "succeeded" }, "batch");
      for (const warning of result.warnings ?? []) await runs.recordWarning(runId, warning);
      await recordResult(dependencies, details, result, attempt.startedAt);
      await Promise.all(waiting.map((token) => tokens.succeed(token, { runId })));
    } else if (next.move === "succeed") {
      await completeAttempt(dependencies, details, attempt, { status: "succeeded" }, "batch");
      const { segment = 0 } = details.run;
      if (await runs.pause(runId, { segment, at: isoTime(dependencies.clock) })) await finishPause(dependencies, runId);
    } else if (next.move === "resubmit") {
      await completeAttempt(dependencies, details, attempt, { status: "failed", reason: next.why }, "batch");
      await launchAttempt(dependencies, details.run, { ...nextAttempt(details), market: next.market });
    } else if (next.move === "fail") {
      if (job.status === "running" && attempt.jobId !== undefined) await jobs.terminate(attempt.jobId, next.why, runId);
      await completeAttempt(dependencies, details, attempt, { status: "failed", reason: next.why }, "batch");
      await answerFailure(next.code, next.message);
    }
  } catch (error) {
    if (!(error instanceof JobRefusedError || error instanceof CorruptObjectError)) throw error;
    await answerFailure(error.code, error.message);
    return "fail";
  }
  return next.move;
}

/**
 * Copies the files of a result to the content store, where the trainer cannot write. Idempotent.
 *
 * @throws CorruptObjectError if a file is missing or damaged
 */
async function takeInFiles(objects: ObjectStore, { weights, topology }: TrainingResult): Promise<void> {
  for (const { key, ...content } of [weights, topology]) {
    if (key === undefined || (await objects.copyContent(content, key))) continue;
    if (!(await objects.hasContent(content, "by-checksum"))) {
      throw new CorruptObjectError(key, `SHA-256 ${content.sha256}`, "missing or damaged");
    }
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

/** Writes the training step's output into the run, and into the cache for others. */
async function recordResult(
  dependencies: CompleteTrainingDependencies,
  details: RunDetails,
  result: TrainingResult,
  startedAt: string,
): Promise<void> {
  const { runId } = details.run;
  const inputHash = inputHashOf(trainingStep, details);
  const known = details.steps.some((record) => record.step === trainingStep.step && record.inputHash === inputHash);
  if (known) return;
  const output = trainingOutputOf(result);
  await dependencies.cache.keep("LaunchTraining", inputHash, { runId, output, at: isoTime(dependencies.clock) });
  await finishStep(dependencies, runId, trainingStep, inputHash, { runId, output }, startedAt);
}
