import type { Measures, Meter } from "../metering/metrics";
import type { WorkerRecord } from "../runs/shapes";
import { type CompleteTrainingDependencies, completeTraining } from "./complete-training";

/** The parts of a "Batch Job State Change" of a run's job that are used. */
export interface JobEvent {
  readonly runId: string;
  /** Absent if the event is about a whole array or gang. */
  readonly worker?: WorkerRecord;
  /** Submission time of the job, in milliseconds since the epoch. */
  readonly createdAt?: number;
  readonly ended: boolean;
}

/** Records the worker's state, and continues the training if a job has ended. */
export async function takeJobEvent(
  dependencies: CompleteTrainingDependencies,
  team: string,
  event: JobEvent,
): Promise<string | undefined> {
  if (event.worker) await keepWorker(dependencies, team, event, event.worker);
  return event.ended ? completeTraining(dependencies, event.runId) : undefined;
}

async function keepWorker(
  { runs, meter }: { readonly runs: CompleteTrainingDependencies["runs"]; readonly meter: Meter },
  team: string,
  { runId, createdAt }: JobEvent,
  worker: WorkerRecord,
): Promise<void> {
  const { newer, before } = await runs.recordWorker(runId, worker);
  if (!newer) return;
  const measures = newsOf(before, worker, createdAt);
  if (Object.keys(measures).length > 0) meter.emit(measures, team, { runId, workerIndex: worker.workerIndex });
}

/** Returns the news in a worker's record against the previous one. */
export function newsOf(
  before: WorkerRecord | undefined,
  worker: WorkerRecord,
  createdAt: number | undefined,
): Measures {
  const same = before?.jobId === worker.jobId ? before : undefined;
  const losses = worker.attempts
    .slice(same?.attempts.length ?? 0)
    .filter(({ reason }) => reason?.startsWith("Host EC2")).length;
  const firstStart = (record: WorkerRecord | undefined) => record?.attempts[0]?.startedAt ?? record?.startedAt;
  const started = firstStart(worker);
  const waited =
    started !== undefined && createdAt !== undefined && firstStart(same) === undefined && worker.workerIndex === 0
      ? Math.max(0, started - createdAt) / 1000
      : undefined;
  return {
    ...(losses === 0 ? {} : { SpotInterruptions: losses }),
    ...(waited === undefined ? {} : { QueueWait: waited }),
  };
}
