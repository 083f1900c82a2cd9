import type { Measures, Meter } from "../metering/metrics";
import type { NextMove } from "../runs/attempts";
import { workersOf } from "../runs/run";
import type { InstanceUse, RunRepository } from "../runs/run-repository";
import { isOpen } from "../runs/run-states";
import type { RunDetails, WorkerRecord } from "../runs/shapes";
import { completeEvaluation } from "./evaluation-job";
import { type ContinueTrainingDependencies, continueTraining } from "./limits";
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
  dependencies: ContinueTrainingDependencies,
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
  const start = firstStart(worker);
  if (start !== undefined) await runs.leaveQueue(runId, new Date(start).toISOString());
  if (!newer) return;
  const measures = newsOf(before, worker, createdAt);
  if (Object.keys(measures).length > 0) meter.emit(measures, team, { runId, workerIndex: worker.workerIndex });
}

const firstStart = (record: WorkerRecord | undefined): number | undefined =>
  record?.attempts[0]?.startedAt ?? record?.startedAt;

export function newsOf(
  before: WorkerRecord | undefined,
  worker: WorkerRecord,
  createdAt: number | undefined,
): Measures {
  const same = before?.jobId === worker.jobId ? before : undefined;
  const losses = worker.attempts
    .slice(same?.attempts.length ?? 0)
    .filter(({ reason }) => reason?.startsWith("Host EC2")).length;
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

/** Inspects the job of the run's training or evaluation. Each does nothing in another phase of the run. */
export async function completeJob(
  dependencies: ContinueTrainingDependencies,
  runId: string,
): Promise<NextMove["move"] | "limit exceeded"> {
  const run = await dependencies.runs.find(runId);
  return run?.phase === "Evaluate" ? completeEvaluation(dependencies, runId) : continueTraining(dependencies, runId);
}

interface SpotNoticeDependencies {
  readonly meter: Meter;
  findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
  /** Returns `undefined` if there is no such run. */
  teamOf(runId: string): Promise<string | undefined>;
  forTeam(team: string): { readonly runs: Pick<RunRepository, "findDetails" | "recordInterruptionNotice"> };
}

/**
 * Records on each worker of an instance that EC2 will reclaim it in two minutes, and counts it once even if the event
 * is repeated. The workers do not depend on it: they read the same notice from the instance's metadata. A worker that
 * has not sent its first metrics has no recorded instance, and its notice shows only in its loss.
 * @param at time of EC2's notice, ISO 8601
 * @returns the newly recorded workers; none if the instance is not the platform's
 */
export async function takeSpotNotice(
  { meter, findOnInstance, teamOf, forTeam }: SpotNoticeDependencies,
  instanceId: string,
  at: string,
): Promise<readonly InstanceUse[]> {
  const uses = await findOnInstance(instanceId);
  const noted: InstanceUse[] = [];
  for (const use of uses) {
    const team = await teamOf(use.runId);
    if (team === undefined) continue;
    const { runs } = forTeam(team);
    const details = await runs.findDetails(use.runId);
    if (!details || !mayRun(details, use.memberId)) continue;
    if (!(await runs.recordInterruptionNotice(use.runId, use.memberId, at))) continue;
    meter.emit({ SpotNotices: 1 }, team, { runId: use.runId, instanceId });
    noted.push(use);
  }
  return noted;
}

/** An instance outlives jobs. Processes that have ended there are not affected. */
function mayRun({ run, workers }: RunDetails, memberId: string): boolean {
  if (!isOpen(run.status)) return false;
  const [jobId, attempt] = memberId.split("/");
  const worker = workers.find((one) => one.jobId === jobId);
  return worker === undefined || worker.attempts.length < Number(attempt);
}
