import * as z from "zod";
import { InvalidInputError } from "../errors";
import { isoTime } from "../ports";
import { problemsOf } from "../problems";
import { checkRunKey, type RunKeys } from "../runs/run-key";
import type { RunDetails, WorkerRecord } from "../runs/shapes";
import type { JobContinuation, NextTraining } from "../runs/training-task";
import { completeTraining } from "./complete-training";
import type { NextMoveDependencies } from "./next-move";
import { type SharedJob, type SharedJobs, sharingOf } from "./shared-jobs";

export interface ContinueJobDependencies extends NextMoveDependencies {
  readonly sharedJobs: SharedJobs;
  readonly studies: { find(name: string): Promise<{ readonly status: string } | undefined> };
  readonly keys: RunKeys;
}

export const continueRequest = z.object({
  runId: z.string().min(1).max(100),
  runKey: z.string().min(1).max(200),
  segment: z.int().min(0).max(1_000_000),
  jobId: z.string().min(1).max(200),
  /** The trainer wants to end its job. */
  leave: z.boolean().default(false),
});

/** Age of a job's last request after which the next one is recorded. Less than `seenWithinMs`. */
const recordedEveryMs = 1_500;
/** Attempts to write the row of a job that other processes change, too. */
const maxTries = 5;

/** Parses a trainer's request. Omits its values from the error, because one of them is a secret. */
export function parseContinueRequest(input: unknown): z.output<typeof continueRequest> {
  const parsed = continueRequest.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidInputError("the request to continue a job is not valid", problemsOf(parsed.error));
}

/**
 * Answers the trainer of a job that has trained a trial to the end of its segment: completes that training, and returns
 * the next trial once one was assigned. Idempotent: a trainer that was restarted gets the current training.
 * @throws RUN_KEY_REFUSED
 */
export async function continueJob(
  dependencies: ContinueJobDependencies,
  request: z.output<typeof continueRequest>,
): Promise<JobContinuation> {
  const { sharedJobs, runs, clock, keys } = dependencies;
  const { runId, runKey, jobId } = request;
  await checkRunKey(keys, runId, runKey);
  for (let tries = 0; tries < maxTries; tries++) {
    const job = await sharedJobs.find(jobId);
    if (job && !isOf(job, request)) return { next: await handOver(dependencies, request, job) };
    if (job?.idle && !request.leave && (await staysIdle(dependencies, job))) return {};

    const details = await runs.findDetails(runId);
    const match = details && sharedAttempt(details, request);
    if (!match) {
      if (!job || (await sharedJobs.remove(job))) return { leave: true };
      continue;
    }
    if (!job?.idle) {
      await completeTraining(dependencies, runId, { read: details });
      await runs.recordWorker(runId, ended(match.worker, clock.now()));
    }
    const study = details.run.trial?.study;
    if (request.leave || study === undefined || !(await isActive(dependencies, study))) {
      if (!job || (await sharedJobs.remove(job))) return { leave: true };
      continue;
    }
    const { sharing, current } = match;
    const next = { jobId, sharing, current, study, idle: true, seenAt: clock.now() };
    if (await sharedJobs.save({ ...next, revision: (job?.revision ?? 0) + 1 })) return {};
  }
  return {};
}

function isOf({ current }: SharedJob, { runId, segment }: z.output<typeof continueRequest>): boolean {
  return current.runId === runId && (current.segment ?? 0) === segment;
}

/**
 * Returns the attempt that this job has trained; `undefined` if another job did, or the job cannot be shared. The run may
 * have been resumed since: its next segment has no attempt yet, and may get this job.
 */
function sharedAttempt(details: RunDetails, { jobId, segment }: z.output<typeof continueRequest>) {
  const attempt = details.attempts
    .filter((each) => (each.segment ?? 0) === segment && each.evaluation === undefined)
    .at(-1);
  const record = details.workers.find((one) => one.jobId === jobId);
  const worker = record ?? { workerIndex: 0, jobId, status: "RUNNING", attempts: [] };
  const sharing = attempt && sharingOf(details.run, attempt);
  if (attempt?.jobId !== jobId || sharing === undefined) return undefined;
  const { runId } = details.run;
  const current = { runId, attempt: attempt.attempt, ...(segment === 0 ? {} : { segment }) };
  return { sharing, current, worker };
}

async function isActive({ studies }: ContinueJobDependencies, study: string): Promise<boolean> {
  return (await studies.find(study))?.status === "running";
}

/** Whether an idle job continues to wait, and its record is recent. Most requests of a trainer end here. */
async function staysIdle(dependencies: ContinueJobDependencies, { study, seenAt }: SharedJob): Promise<boolean> {
  return dependencies.clock.now() - seenAt < recordedEveryMs && (await isActive(dependencies, study));
}

/** Gives the trainer the job's current training. Its worker is the job's: the same process and log. */
async function handOver(
  { runs, keys, clock }: ContinueJobDependencies,
  { runId, jobId }: z.output<typeof continueRequest>,
  { current }: SharedJob,
): Promise<NextTraining> {
  const before = (await runs.findDetails(runId))?.workers.find((one) => one.jobId === jobId);
  await runs.recordWorker(current.runId, {
    ...{ workerIndex: 0, jobId, attempt: current.attempt, status: "RUNNING", startedAt: clock.now(), attempts: [] },
    ...(before?.logStreamName === undefined ? {} : { logStreamName: before.logStreamName }),
  });
  await runs.leaveQueue(current.runId, isoTime(clock));
  const { segment } = current;
  const runKey = await keys.keyOf(current.runId);
  return { runId: current.runId, runKey, segment };
}

function ended(worker: WorkerRecord, now: number): WorkerRecord {
  const { startedAt = now, logStreamName } = worker;
  const attempt = { exitCode: 0, startedAt, stoppedAt: now, logStreamName };
  return { ...worker, status: "SUCCEEDED", attempts: [attempt] };
}

/** Removes an ended shared job, and continues its last training without waiting for the sweep. */
export async function endSharedJob(
  dependencies: NextMoveDependencies & { readonly sharedJobs: Pick<SharedJobs, "find" | "remove"> },
  jobId: string,
  firstRunId: string,
): Promise<void> {
  const job = await dependencies.sharedJobs.find(jobId);
  if (!job) return;
  if (job.current.runId !== firstRunId && !job.idle) await completeTraining(dependencies, job.current.runId);
  await dependencies.sharedJobs.remove(job);
}
