import { type InstancePrice, instancePriceOf, instancePricesAsOf } from "../metering/prices";
import type { JobKind } from "./run";
import type { AttemptUsage, MachineRecord, TrainingAttempt, WorkerAttempt, WorkerRecord } from "./shapes";
import { trainerExitCodes } from "./training-task";

/** One container of workers, mostly of one, from its start in Batch to its stop. */
export interface WorkerSpan {
  /** Batch's job and attempt, `<job>:<index>/<attempt>`. */
  readonly memberId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Absent while the process runs. */
  readonly stoppedAt?: number;
  /** Set if it ended before the training did. */
  readonly lost?: true;
}

/** Whether an ended process was lost: killed, without a host, or to be restarted; not one that recorded a failure. */
export function isLost({ exitCode }: Pick<WorkerAttempt, "exitCode">): boolean {
  return exitCode !== trainerExitCodes.completed && exitCode !== trainerExitCodes.failed;
}

export interface Reservation {
  readonly vcpusPerWorker: number;
  readonly memoryMbPerWorker: number;
  readonly gpusPerWorker: number;
}

/**
 * Returns an attempt's usage, and its cost by the platform's table of prices. An estimate: spot prices change; the
 * unreserved part of a shared instance, an instance's start and its idle minutes are not counted.
 *
 * A worker whose host was lost before it reported its machine counts like the attempt's others.
 * @param now end of the spans of running processes
 */
export function usageOf(
  attempt: JobKind,
  reservation: Reservation,
  spans: readonly WorkerSpan[],
  machines: readonly MachineRecord[],
  now: number,
): AttemptUsage {
  const typeOf = new Map(machines.map(({ memberId, instanceType }) => [memberId, instanceType]));
  const types = spans.flatMap(({ memberId }) => typeOf.get(memberId) ?? []);
  const likely = mostFrequent(types);
  const perHost = attempt.workersPerHost ?? 1;
  let workerSeconds = 0;
  let estimatedUsd: number | undefined;
  for (const { memberId, startedAt, stoppedAt = now } of spans) {
    const seconds = Math.max(0, stoppedAt - startedAt) / 1000;
    workerSeconds += seconds * perHost;
    const instanceType = typeOf.get(memberId) ?? likely;
    const price = instanceType === undefined ? undefined : instancePriceOf(instanceType);
    if (!price) continue;
    const usdPerHour = attempt.market === "spot" ? price.spotUsdPerHourEstimate : price.onDemandUsdPerHour;
    estimatedUsd = (estimatedUsd ?? 0) + (seconds / 3600) * usdPerHour * shareOf(attempt, reservation, price);
  }
  return {
    workerSeconds,
    gpuSeconds: workerSeconds * reservation.gpusPerWorker,
    instanceTypes: [...new Set(types)].sort(),
    workerLosses: spans.filter(({ lost }) => lost).length * perHost,
    ...(estimatedUsd === undefined ? {} : { estimatedUsd, pricesOf: instancePricesAsOf }),
  };
}

/**
 * Returns the part of the instance that no other job can have, from 0 to 1. AWS Batch runs a node of a
 * multi-node-parallel job alone on its instance
 * (https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html), so that it takes all of it. Other
 * jobs share the instance; the largest of a container's parts of vCPUs, memory and GPUs counts.
 */
function shareOf(
  attempt: JobKind,
  { vcpusPerWorker, memoryMbPerWorker, gpusPerWorker }: Reservation,
  { vcpus, memoryGib, gpus }: InstancePrice,
): number {
  if (attempt.placement === "cluster") return 1;
  const gpuPart = gpus === 0 ? 0 : gpusPerWorker / gpus;
  const largest = Math.max(vcpusPerWorker / vcpus, memoryMbPerWorker / 1024 / memoryGib, gpuPart);
  return Math.min(1, largest * (attempt.workersPerHost ?? 1));
}

function mostFrequent(names: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))[0]?.[0];
}

/** Spans of a job's ended attempts, and of the one that runs since `startedAt`. */
export function spansOfJob(
  jobId: string | undefined,
  attempts: readonly Pick<WorkerAttempt, "exitCode" | "startedAt" | "stoppedAt">[],
  startedAt: number | undefined,
): readonly WorkerSpan[] {
  const ended = attempts.flatMap(({ exitCode, startedAt, stoppedAt }, i): readonly WorkerSpan[] => {
    const lost = isLost({ exitCode }) ? true : undefined;
    return startedAt === undefined ? [] : [{ memberId: `${jobId}/${i + 1}`, startedAt, stoppedAt, lost }];
  });
  return startedAt === undefined ? ended : [...ended, { memberId: `${jobId}/${attempts.length + 1}`, startedAt }];
}

/** Returns the spans of a job's workers from the rows that Batch's events have written. */
export function spansOfRows(workers: readonly WorkerRecord[], attempt: number): readonly WorkerSpan[] {
  return workers
    .filter((worker) => (worker.attempt ?? 1) === attempt)
    .flatMap(({ jobId, startedAt, attempts }) => {
      // A job's own start is that of its latest attempt, which is also listed among the ended attempts once it has
      // ended.
      const runs = attempts.every((one) => one.startedAt !== startedAt);
      return spansOfJob(jobId, attempts, runs ? startedAt : undefined);
    });
}

/** Returns the time from which an attempt's workers ran, without its wait in the queue; ISO 8601. */
export function workSince(
  { workers }: { readonly workers: readonly WorkerRecord[] },
  { attempt, startedAt }: Pick<TrainingAttempt, "attempt" | "startedAt">,
): string {
  const starts = spansOfRows(workers, attempt).map((span) => span.startedAt);
  return starts.length === 0 ? startedAt : new Date(Math.min(...starts)).toISOString();
}

export function totalUsage(attempts: readonly Pick<TrainingAttempt, "usage">[]): AttemptUsage | undefined {
  const usages = attempts.flatMap(({ usage }) => usage ?? []);
  if (usages.length === 0) return undefined;
  const priced = usages.flatMap(({ estimatedUsd }) => estimatedUsd ?? []);
  return {
    workerSeconds: usages.reduce((sum, { workerSeconds }) => sum + workerSeconds, 0),
    gpuSeconds: usages.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0),
    instanceTypes: [...new Set(usages.flatMap(({ instanceTypes }) => instanceTypes))].sort(),
    workerLosses: usages.reduce((sum, { workerLosses = 0 }) => sum + workerLosses, 0),
    estimatedUsd: priced.length === 0 ? undefined : priced.reduce((sum, one) => sum + one, 0),
    pricesOf: usages.flatMap(({ pricesOf }) => pricesOf ?? []).at(-1),
  };
}
