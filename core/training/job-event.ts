import type { Measures, Meter } from "../metering/meter";
import type { WorkerRecord } from "../runs/run";
import { type FinishDependencies, finishTraining } from "./finish";

/** A "Batch Job State Change" of a run's job, as far as it is acted upon. */
export interface JobEvent {
  readonly runId: string;
  /** Absent where it is about a whole array or gang. */
  readonly worker?: WorkerRecord;
  /** Milliseconds since the epoch: when the job was submitted. */
  readonly createdAt?: number;
  readonly ended: boolean;
}

/** Keeps what the event says of a worker, and looks where the training stands once a job has ended. */
export async function takeJobEvent(
  dependencies: FinishDependencies,
  team: string,
  event: JobEvent,
): Promise<string | undefined> {
  if (event.worker) await keepWorker(dependencies, team, event, event.worker);
  return event.ended ? finishTraining(dependencies, event.runId) : undefined;
}

async function keepWorker(
  { runs, meter }: { readonly runs: FinishDependencies["runs"]; readonly meter: Meter },
  team: string,
  { runId, createdAt }: JobEvent,
  worker: WorkerRecord,
): Promise<void> {
  const { newer, before } = await runs.recordWorker(runId, worker);
  if (!newer) return;
  const measures = newsOf(before, worker, createdAt);
  if (Object.keys(measures).length > 0) meter.emit(measures, team, { runId, workerIndex: worker.workerIndex });
}

/** What a worker's newer record tells that the one before did not. */
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
