import { digestOf } from "../digest";
import type { Clock } from "../ports";
import type { JobRequest, TrainingJobs } from "../runs/ports";
import type { Run, TrainingAttempt } from "../runs/shapes";

/** One attempt of a run, as a shared job trains it. */
export interface SharedTraining {
  readonly runId: string;
  readonly segment?: number;
  readonly attempt: number;
}

/** A Batch job that trains several short trials of a study, one after another. */
export interface SharedJob {
  readonly jobId: string;
  /** Digest of what its trials have in common. See `sharingOf`. */
  readonly sharing: string;
  readonly current: SharedTraining;
  readonly study: string;
  /** Whether the current training has ended and the trainer waits for the next. */
  readonly idle: boolean;
  /** Time of the trainer's last request. Milliseconds since the epoch. */
  readonly seenAt: number;
  readonly revision: number;
}

export interface SharedJobs {
  find(jobId: string): Promise<SharedJob | undefined>;
  list(sharing: string): Promise<readonly SharedJob[]>;
  /**
   * Stores the job if the stored one has the previous revision; revision 1 must be new. Returns whether it was stored.
   */
  save(job: SharedJob): Promise<boolean>;
  /** Removes the job if the stored one has this revision. */
  remove(job: SharedJob): Promise<boolean>;
}

/** Age of a trainer's last request after which it no longer receives trials. Trainers ask at least every two seconds. */
const seenWithinMs = 6_000;

/**
 * Returns what trials must have in common to share a job: the study, the machine, and everything that TensorFlow reads
 * once in a process. `undefined` for a training of several workers, which has a job of its own.
 */
export function sharingOf(
  { team, trial, job }: Run,
  { market, workers, definitions }: Pick<TrainingAttempt, "market" | "workers" | "definitions">,
): string | undefined {
  if (trial === undefined || workers !== 1) return undefined;
  const { gpusPerWorker, gpu, vcpusPerWorker, memoryMbPerWorker, backend, tf32 } = job.resources;
  const machine = {
    market,
    gpusPerWorker,
    gpuClass: gpu?.class,
    vcpusPerWorker,
    memoryMbPerWorker,
    backend,
    tf32,
    definition: definitions?.single,
  };
  return digestOf({ team, study: trial.study, ...machine });
}

/** Adds shared jobs to Batch's: a request takes over a job whose trainer waits, before it submits a new one. */
export function withSharedJobs(jobs: TrainingJobs, shared: SharedJobs, clock: Clock): TrainingJobs {
  return {
    ...jobs,

    async find(request) {
      const { sharing } = request;
      const taken = sharing === undefined ? [] : await shared.list(sharing);
      return taken.find(({ current }) => isOf(current, request))?.jobId ?? (await jobs.find(request));
    },

    async submit(request) {
      for (const job of request.sharing === undefined ? [] : await shared.list(request.sharing)) {
        if (!job.idle || clock.now() - job.seenAt > seenWithinMs) continue;
        const { runId, attempt, segment } = request;
        const current = { runId, attempt, segment };
        if (await shared.save({ ...job, current, idle: false, revision: job.revision + 1 })) {
          return { jobId: job.jobId };
        }
      }
      return jobs.submit(request);
    },

    async describe(jobId) {
      const outcome = await jobs.describe(jobId);
      if (outcome.status === "running" || outcome.hostLoss) return outcome;
      const job = await shared.find(jobId);
      // A trial must not use up its retries because the job of other trials ended. It gets another job.
      return job && job.revision > 1 ? { ...outcome, status: "failed", hostLoss: true } : outcome;
    },

    async terminate(jobId, reason, runId) {
      const job = await shared.find(jobId);
      if (job && (job.idle || job.current.runId !== runId)) return;
      await jobs.terminate(jobId, reason, runId);
    },
  };
}

function isOf(training: SharedTraining, { runId, attempt }: JobRequest): boolean {
  return training.runId === runId && training.attempt === attempt;
}
