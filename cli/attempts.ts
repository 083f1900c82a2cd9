import { formatDuration } from "../core/quantities";
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
    usage ? formatDuration(usage.workerSeconds * 1000) : "",
    formatDollars(usage?.estimatedUsd),
    status,
    reason,
  ];
}

/** `2h 05m, GPU time 1h 10m (estimated $1.42 at prices of 2026-06-17)`; undefined where nothing ran. */
export function describeUsage(attempts: readonly TrainingAttempt[]): string | undefined {
  const usage = totalUsage(attempts);
  if (usage === undefined || usage.workerSeconds === 0) return undefined;
  const gpuTime = usage.gpuSeconds > 0 ? `, GPU time ${formatDuration(usage.gpuSeconds * 1000)}` : "";
  return `${formatDuration(usage.workerSeconds * 1000)}${gpuTime} (${describeCost(usage)})`;
}

function describeCost({ estimatedUsd, pricesOf, instanceTypes }: AttemptUsage): string {
  if (estimatedUsd !== undefined) return `estimated ${formatDollars(estimatedUsd)} at prices of ${pricesOf}`;
  if (instanceTypes.length === 0) return "instance type and cost unknown";
  const types = instanceTypes.join(", ");
  return types === "local" ? "local, no cost" : `no price known for ${types}`;
}

/** To the cent; what is less than a dollar, to a hundredth of one. */
function formatDollars(usd: number | undefined): string {
  return usd === undefined ? "–" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
