import type { Measures, Meter } from "../metering/metrics";
import type { NextMove } from "../runs/attempts";
import { workersOf } from "../runs/run";
import type { WorkerRecord } from "../runs/shapes";
import { completeTraining } from "./complete-training";
import { completeEvaluation } from "./evaluation-job";
import type { NextMoveDependencies } from "./next-move";

/** The parts of a "Batch Job State Change" of a run's job that are used. */
export interface JobEvent {
  readonly runId: string;
  /** Absent if the event is about a whole array or gang. */
  readonly worker?: WorkerRecord;
  /** Whether the job evaluates. */
  readonly evaluates?: boolean;
  /** Submission time of the job, in milliseconds since the epoch. */
  readonly createdAt?: number;
  readonly ended: boolean;
}

/** Records the worker's state, and continues the training or evaluation if a job has ended. */
export async function takeJobEvent(
  dependencies: NextMoveDependencies,
  team: string,
  event: JobEvent,
): Promise<string | undefined> {
  if (event.worker) await keepWorker(dependencies, team, event, event.worker);
  return event.ended ? completeJob(dependencies, event.runId) : undefined;
}

async function keepWorker(
  { runs, meter }: { readonly runs: NextMoveDependencies["runs"]; readonly meter: Meter },
  team: string,
  { runId, createdAt, evaluates }: JobEvent,
  worker: WorkerRecord,
): Promise<void> {
  const run = evaluates ? await runs.find(runId) : undefined;
  // The worker of an evaluation is listed after those of the training, whose logs must stay.
  const record = run ? { ...worker, workerIndex: workersOf(run) } : worker;
  const { newer, before } = await runs.recordWorker(runId, record);
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

/**
 * Inspects the run's job, of its training or of its evaluation, and continues the work. Each does nothing in another
 * phase of the run.
 */
export async function completeJob(dependencies: NextMoveDependencies, runId: string): Promise<NextMove["move"]> {
  const run = await dependencies.runs.find(runId);
  return run?.phase === "Evaluate" ? completeEvaluation(dependencies, runId) : completeTraining(dependencies, runId);
}
