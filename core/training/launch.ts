import { type Clock, isoTime } from "../ports";
import { JobRefusedError } from "../runs/errors";
import type { JobRequest, TrainingJobs } from "../runs/ports";
import { type JobKind, jobKindOf } from "../runs/run";
import type { RunRepository } from "../runs/run-repository";
import type { Run, RunDetails, TrainingAttempt } from "../runs/shapes";
import { sharingOf } from "./shared-jobs";

export interface LaunchDependencies {
  readonly runs: RunRepository;
  readonly jobs: TrainingJobs;
  readonly clock: Clock;
}

/** Time after its claim in which an attempt's process may call SubmitJob. */
const submitWithinMs = 10_000;
/** Age of a claim without a job after which the process counts as dead. Its job can then be found by name. */
export const launchPatienceMs = 30_000;

/**
 * Starts a run's next attempt and submits its Batch job, once. The attempt's row comes first, under the condition that
 * the run is open and trains.
 * @returns `undefined` if another call has started this attempt, or the run has ended
 * @throws JobRefusedError if Batch refuses the job; the attempt has then failed
 */
export async function launchAttempt(
  dependencies: LaunchDependencies,
  run: Run,
  plan: AttemptPlan,
): Promise<TrainingAttempt | undefined> {
  const at = isoTime(dependencies.clock);
  const attempt: TrainingAttempt = {
    ...plan,
    ...(plan.evaluation === undefined ? jobKindOf(run, plan.market) : evaluationKind(plan.market)),
    segment: run.segment,
    status: "submitting",
    startedAt: at,
    claimedAt: at,
  };
  return (await dependencies.runs.beginAttempt(run.runId, attempt)) ? submit(dependencies, run, attempt) : undefined;
}

/** Starts the training's next attempt, or that of an evaluation. All attempts have the first one's definitions. */
export async function launchNext(dependencies: LaunchDependencies, details: RunDetails, evaluation?: string) {
  const next = nextAttempt(details, evaluation);
  const definitions = next.definitions ?? (await dependencies.jobs.definitions());
  const attempt = await launchAttempt(dependencies, details.run, { ...next, definitions });
  return { attempt: attempt?.attempt, jobId: attempt?.jobId };
}

/** Returns the kind of an evaluation's job: one worker with the resources of one of the run's trainers. */
function evaluationKind(market: JobKind["market"]): JobKind {
  return { market, placement: "spread", workers: 1 };
}

/** Continues an attempt whose process died before it recorded its job. Does nothing while that process may live. */
export async function takeOverAttempt(
  dependencies: LaunchDependencies,
  run: Run,
  attempt: TrainingAttempt,
): Promise<TrainingAttempt | undefined> {
  const { runs, clock } = dependencies;
  if (!isAbandoned(attempt, clock)) return undefined;
  const claimedAt = isoTime(clock);
  if (!(await runs.takeOverAttempt(run.runId, attempt.attempt, claimOf(attempt), claimedAt))) return undefined;
  return submit(dependencies, run, { ...attempt, claimedAt });
}

/** Returns whether the process that was to submit this attempt's job has died before recording it. */
export function isAbandoned(attempt: TrainingAttempt, clock: Clock): boolean {
  return attempt.jobId === undefined && clock.now() - Date.parse(claimOf(attempt)) > launchPatienceMs;
}

/** An attempt to launch. `evaluation`: hash of the inputs of the evaluation that it computes. */
export type AttemptPlan = Pick<TrainingAttempt, "attempt" | "market" | "definitions" | "evaluation">;

/**
 * Returns the attempt of the training, or of an evaluation, to launch if none is running. An evaluation may begin with newer
 * job definitions than the training had: they do not decide the weights.
 */
export function nextAttempt({ run, attempts }: RunDetails, evaluation?: string): AttemptPlan {
  const latest = attempts.filter((attempt) => attempt.evaluation === evaluation).at(-1);
  return {
    attempt: (attempts.at(-1)?.attempt ?? 0) + 1,
    market: latest?.market ?? run.job.resources.market,
    evaluation,
    definitions: latest?.definitions,
  };
}

export function attemptsOfSegment({ run, attempts }: Pick<RunDetails, "run" | "attempts">): readonly TrainingAttempt[] {
  return attempts.filter(({ segment, evaluation }) => segment === run.segment && evaluation === undefined);
}

/** Returns the latest attempt of the training and that of an evaluation. The jobs of earlier ones have ended. */
export function latestAttempts(attempts: readonly TrainingAttempt[]): readonly TrainingAttempt[] {
  const training = attempts.filter(({ evaluation }) => evaluation === undefined).at(-1);
  const latest = attempts.at(-1);
  return [training, latest === training ? undefined : latest].flatMap((attempt) => attempt ?? []);
}

/** Returns the request by which an attempt's job is submitted, and found again. */
export function jobRequestOf(
  run: Run,
  kind: JobKind & Pick<TrainingAttempt, "attempt" | "segment" | "definitions" | "evaluation">,
): JobRequest {
  const { attempt, market, placement, workers, workersPerHost, segment, definitions, evaluation } = kind;
  const { gpusPerWorker, gpu, vcpusPerWorker, memoryMbPerWorker } = run.job.resources;
  const { runId, team } = run;
  const sharing = evaluation === undefined ? sharingOf(run, { market, workers, definitions }) : undefined;
  return {
    ...{ runId, team, attempt, market, placement, workers, gpusPerWorker, vcpusPerWorker, memoryMbPerWorker },
    ...{ workersPerHost, segment, definitions, evaluation, sharing, gpuClass: gpu?.class },
    processPerTraining: sharing !== undefined && run.job.model.type === "module",
  };
}

const claimOf = ({ claimedAt, startedAt }: TrainingAttempt): string => claimedAt ?? startedAt;

async function submit(
  { runs, jobs, clock }: LaunchDependencies,
  run: Run,
  attempt: TrainingAttempt,
): Promise<TrainingAttempt | undefined> {
  const { runId } = run;
  const request = jobRequestOf(run, attempt);
  let jobId = await jobs.find(request);
  if (jobId === undefined) {
    // After such a delay this process may be considered dead, and another one continues the attempt.
    if (clock.now() - Date.parse(claimOf(attempt)) > submitWithinMs) return undefined;
    try {
      ({ jobId } = await jobs.submit(request));
    } catch (error) {
      if (error instanceof JobRefusedError) {
        await runs.completeAttempt(runId, attempt.attempt, {
          status: "failed",
          reason: error.message,
          at: isoTime(clock),
        });
      }
      throw error;
    }
  }
  if (await runs.recordJob(runId, attempt.attempt, jobId)) return { ...attempt, jobId, status: "submitted" };

  // Another process recorded it, or the run has ended. A job that is in no row must be stopped.
  const row = (await runs.findDetails(runId))?.attempts.find((one) => one.attempt === attempt.attempt);
  if (row?.jobId === jobId) return row;
  const reason = `attempt ${attempt.attempt} ended or got another job before this job was submitted`;
  await jobs.terminate(jobId, reason, runId);
  if (row?.status === "submitting")
    await runs.completeAttempt(runId, attempt.attempt, { status: "failed", reason, at: isoTime(clock), jobId });
  return undefined;
}
