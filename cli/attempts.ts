import type { AttemptUsage, RunDetails, TrainingAttempt } from "../core/training/run";
import { type Reservation, spansOfRows, totalUsage, usageOf } from "../core/training/usage";

type RunOfAttempts = Pick<RunDetails, "attempts" | "workers" | "machines"> & {
  readonly run: { readonly job: { readonly resources: Reservation } };
};

/** A run's attempts, the one that runs with what it has taken so far. */
export function attemptsSoFar(
  { run, attempts, workers, machines }: RunOfAttempts,
  now: number,
): readonly TrainingAttempt[] {
  return attempts.map((attempt) => {
    if (attempt.usage !== undefined || attempt.endedAt !== undefined) return attempt;
    const spans = spansOfRows(workers, attempt.attempt);
    return { ...attempt, usage: usageOf(attempt, run.job.resources, spans, machines, now) };
  });
}

export const attemptColumns = [
  "ATTEMPT",
  "MARKET",
  "INSTANCE",
  "WORKERS",
  "WORKER TIME",
  "EST. COST",
  "STATUS",
  "REASON",
];

export function attemptRow(attempt: TrainingAttempt): readonly (string | number)[] {
  const { market, workers, status, reason = "", usage } = attempt;
  return [
    attempt.attempt,
    market,
    usage?.instanceTypes.join(", ") ?? "",
    workers,
    usage ? formatSeconds(usage.workerSeconds) : "",
    formatDollars(usage?.estimatedUsd),
    status,
    reason,
  ];
}

/** `2h 05m of workers, 1h 10m of GPUs, estimated $1.42 by prices of 2026-06-17`; undefined where nothing ran. */
export function describeUsage(attempts: readonly TrainingAttempt[]): string | undefined {
  const usage = totalUsage(attempts);
  if (usage === undefined || usage.workerSeconds === 0) return undefined;
  const parts = [`${formatSeconds(usage.workerSeconds)} of workers`];
  if (usage.gpuSeconds > 0) parts.push(`${formatSeconds(usage.gpuSeconds)} of GPUs`);
  return [...parts, describeCost(usage)].join(", ");
}

function describeCost({ estimatedUsd, pricesOf, instanceTypes }: AttemptUsage): string {
  if (estimatedUsd !== undefined) return `estimated ${formatDollars(estimatedUsd)} by prices of ${pricesOf}`;
  return instanceTypes.length === 0 ? "cost unknown" : `no price known of ${instanceTypes.join(", ")}`;
}

/** To the cent; what is less than a dollar, to a hundredth of one. */
function formatDollars(usd: number | undefined): string {
  return usd === undefined ? "–" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  const padded = (n: number) => String(n).padStart(2, "0");
  if (minutes < 60) return `${minutes}m ${padded(Math.floor(seconds % 60))}s`;
  return `${Math.floor(minutes / 60)}h ${padded(minutes % 60)}m`;
}
