import { InvalidInputError } from "../errors";
import type { Clock } from "../ports";
import { isoTime } from "../ports";
import { runNotFound, runNotPaused } from "../runs/errors";
import type { Executions, TaskTokens } from "../runs/ports";
import { workersProblem } from "../runs/resources";
import type { RunRepository } from "../runs/run-repository";
import type { Run } from "../runs/shapes";
import type { RunEvents } from "./run-ended";

export interface FinishPauseDependencies {
  readonly runs: Pick<RunRepository, "find" | "findTaskTokens" | "delist">;
  readonly tokens: Pick<TaskTokens, "succeed">;
  readonly runEvents: RunEvents;
}

/**
 * Ends the execution of a paused run, publishes the pause, and removes the run from the list of open runs. Idempotent:
 * if a process dies in between, the run is still listed, and `reconcile` finishes the pause.
 */
export async function finishPause({ runs, tokens, runEvents }: FinishPauseDependencies, runId: string): Promise<void> {
  const run = await runs.find(runId);
  if (run?.status !== "paused" || run.pausedAt === undefined) return;
  const waiting = await runs.findTaskTokens(runId, "LaunchTraining");
  await Promise.all(waiting.map((token) => tokens.succeed(token, { runId, paused: true })));
  const { team, segment = 0, pausedAt, pauseAt, trial } = run;
  await runEvents.publishRunPaused({
    id: `run-paused-${runId}-${segment}`,
    type: "run.paused",
    at: pausedAt,
    team,
    runId,
    experiment: run.job.experiment,
    segment,
    epoch: pauseAt ?? run.job.hyperparameters.epochs,
    ...(trial ? { trial } : {}),
  });
  await runs.delist(runId);
}

export interface ResumeDependencies {
  readonly runs: Pick<RunRepository, "find" | "resume">;
  readonly executions: Pick<Executions, "start">;
  readonly clock: Clock;
}

export interface ResumeRequest {
  readonly runId: string;
  /** The segment that was paused: a repeated request does not resume the run a second time. Default: the current one. */
  readonly after?: number;
  /** Number of finished epochs at which the run pauses again. Default: it trains to the end. */
  readonly pauseAt?: number;
  /** Number of workers. Default: the job's. The weights do not depend on it. */
  readonly workers?: number;
}

/**
 * Resumes a paused run from its last checkpoint, with unchanged bits. Idempotent for the same `after`. If the process
 * dies between the row and the start, the run stays queued, and `reconcile` starts it.
 * @throws RUN_NOT_FOUND, RUN_NOT_PAUSED, InvalidInputError
 */
export async function resumeRun(
  { runs, executions, clock }: ResumeDependencies,
  { runId, after: lastSegment, pauseAt, workers }: ResumeRequest,
): Promise<Run> {
  const before = await runs.find(runId);
  if (!before) throw runNotFound(runId, "training");
  const after = lastSegment ?? before.segment ?? 0;
  if (before.status === "paused" && (before.segment ?? 0) === after) {
    checkResumption(before, pauseAt, workers);
    await runs.resume(runId, { after, createdAt: before.createdAt, at: isoTime(clock), pauseAt, workers });
  }
  const run = (await runs.find(runId)) ?? before;
  // Another request may have resumed it; a later segment shows that this one was resumed.
  if ((run.segment ?? 0) <= after) throw runNotPaused(runId, run.status);
  if (run.status === "queued") await executions.start(run);
  return run;
}

function checkResumption({ job, pauseAt: pausedAt = 0 }: Run, pauseAt?: number, workers?: number): void {
  const { epochs } = job.hyperparameters;
  const problems = [];
  if (pauseAt !== undefined && (pauseAt <= pausedAt || pauseAt >= epochs)) {
    const rule = `must be more than the ${pausedAt} finished epochs and less than the job's ${epochs}; leave it out to train to the end`;
    problems.push({ path: "pauseAt", value: pauseAt, rule });
  }
  if (workers !== undefined && (workers < 1 || workers > job.resources.microBatches)) {
    const rule = `must be at least 1 and at most resources.microBatches (${job.resources.microBatches})`;
    problems.push({ path: "workers", value: workers, rule });
  } else if (workers !== undefined) {
    const rule = workersProblem(workers, job.resources);
    if (rule) problems.push({ path: "workers", value: workers, rule });
  }
  if (problems.length > 0) throw new InvalidInputError("the run cannot be resumed", problems);
}
