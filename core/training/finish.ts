import { isoTime } from "../clock";
import { findJson } from "../object-documents";
import { finishStep, inputHashOf, type StepDependencies } from "../pipelines/step";
import type { ObjectStore } from "../ports";
import { decideNextMove, hostLossReason, type JobOutcome, type NextMove } from "./attempts";
import { launchAttempt } from "./launch";
import type { TaskTokens, TrainingJobs } from "./ports";
import { isOpen, type RunDetails, type TrainingAttempt } from "./run";
import { trainingKeys, trainingOutputOf, trainingStep } from "./training-step";
import type { TrainingFailure, TrainingResult } from "./training-task";

export interface FinishDependencies extends StepDependencies {
  readonly objects: ObjectStore;
  readonly jobs: TrainingJobs;
  readonly tokens: TaskTokens;
}

/** Longer than any function runs: whoever began an attempt before that and has not recorded its job is dead. */
const launchPatienceMs = 90_000;

/**
 * Looks where a run's training stands, and does what follows: answers the state machine, submits the next attempt, or waits. Called on
 * every event of its job and each minute besides; called twice, late or out of order it decides the same.
 */
export async function finishTraining(dependencies: FinishDependencies, runId: string): Promise<NextMove["move"]> {
  const { runs, objects, jobs, tokens } = dependencies;
  const details = await runs.findDetails(runId);
  const attempt = details?.attempts.at(-1);
  if (!details || !attempt || !isOpen(details.run.status) || details.run.phase !== "LaunchTraining") return "wait";

  const token = await runs.findTaskToken(runId, "LaunchTraining");
  if (token === undefined) return "wait";
  const keys = trainingKeys(runId);
  const result = await findJson<TrainingResult>(objects, keys.result);
  const job: JobOutcome =
    attempt.jobId === undefined ? { status: "running", hostLoss: false } : await jobs.describe(attempt.jobId);
  const failure = await findJson<TrainingFailure>(objects, keys.failure);
  const next = decideNextMove({
    hasResult: result !== undefined,
    failure,
    job,
    attempts: details.attempts,
    retries: details.run.job.retries,
  });

  const { clock } = dependencies;
  const abandoned = attempt.jobId === undefined && clock.now() - Date.parse(attempt.startedAt) > launchPatienceMs;
  if (next.move === "wait" && abandoned) {
    await launchAttempt(dependencies, details.run, { ...attempt, again: true });
  } else if (next.move === "succeed" && result) {
    await endAttempt(dependencies, runId, attempt, "succeeded");
    const output = await recordResult(dependencies, details, result, attempt.startedAt);
    await tokens.succeed(token, output);
  } else if (next.move === "resubmit") {
    await endAttempt(dependencies, runId, attempt, "failed", job.hostLoss && !failure ? hostLossReason : next.why);
    await objects.delete(keys.failure);
    await launchAttempt(dependencies, details.run, { attempt: attempt.attempt + 1, market: next.market });
  } else if (next.move === "fail") {
    await endAttempt(dependencies, runId, attempt, "failed", next.message);
    await tokens.fail(token, next.code, next.message);
  }
  return next.move;
}

/** Writes the training step's output into the run, and into the cache for others. */
async function recordResult(
  dependencies: FinishDependencies,
  details: RunDetails,
  result: TrainingResult,
  startedAt: string,
): Promise<unknown> {
  const { runId } = details.run;
  const inputHash = inputHashOf(trainingStep, details);
  const known = details.steps.some((record) => record.step === trainingStep.step && record.inputHash === inputHash);
  if (known) return { runId };
  const output = trainingOutputOf(result);
  await dependencies.cache.keep("LaunchTraining", inputHash, { runId, output, at: isoTime(dependencies.clock) });
  await finishStep(dependencies, runId, trainingStep, inputHash, { runId, output }, startedAt);
  return { runId };
}

async function endAttempt(
  dependencies: FinishDependencies,
  runId: string,
  attempt: TrainingAttempt,
  status: "succeeded" | "failed",
  reason?: string,
): Promise<void> {
  await dependencies.runs.updateAttempt(runId, {
    ...attempt,
    status,
    reason,
    endedAt: isoTime(dependencies.clock),
  });
}

/** What a run's execution left behind when it was stopped, timed out, or failed before it could say so itself. */
export async function concludeInterrupted(
  dependencies: FinishDependencies,
  runId: string,
  status: "ABORTED" | "FAILED" | "TIMED_OUT",
  error: string | undefined,
  cause: string | undefined,
): Promise<void> {
  const { runs, jobs, clock } = dependencies;
  const run = await runs.find(runId);
  if (!run) return;
  await runs.conclude(runId, {
    status: status === "ABORTED" ? "killed" : "failed",
    at: isoTime(clock),
    failure: {
      code: error ?? `EXECUTION_${status}`,
      message: cause ?? `the run's execution is ${status}`,
      phase: run.phase,
    },
  });
  // Only now: a launch that is under way sees the run's end, or its job is seen here.
  const attempt = (await runs.findDetails(runId))?.attempts.at(-1);
  if (attempt?.jobId === undefined || attempt.status !== "submitted") return;
  await jobs.terminate(attempt.jobId, `run ${runId} ended: ${status}`);
  await endAttempt(dependencies, runId, attempt, "failed", `terminated: the run's execution is ${status}`);
}
