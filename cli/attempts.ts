import { formatDuration } from "../core/quantities";
import type { AttemptUsage, RecoveryRecord, RunDetails, TrainingAttempt, WorkerAttempt } from "../core/runs/shapes";
import { type Reservation, spansOfRows, totalUsage, usageOf } from "../core/runs/usage";

type RunOfAttempts = Pick<RunDetails, "attempts" | "workers" | "machines"> & {
  readonly run: { readonly job: { readonly resources: Reservation } };
};

/** Returns a run's attempts; the running one has its usage so far. */
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
  "LOSSES",
  "EST. COST",
  "STATUS",
  "REASON",
];

export function attemptRow(attempt: TrainingAttempt): readonly (string | number)[] {
  const { market, placement, workers, status, reason = "", usage } = attempt;
  return [
    attempt.evaluation === undefined ? attempt.attempt : `${attempt.attempt} (evaluation)`,
    placement === "cluster" ? `${market}, cluster` : market,
    usage?.instanceTypes.join(", ") ?? "",
    workers,
    usage ? formatDuration(usage.workerSeconds * 1000) : "",
    usage?.workerLosses ?? "",
    formatDollars(usage?.estimatedUsd),
    status,
    reason,
  ];
}

/** Formats `2h 05m, GPU time 1h 10m (estimated $1.42 at prices of 2026-06-17)`; `undefined` if nothing ran. */
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

/** Maximum number of different ends in one cell. */
const maxEnds = 3;

/** Describes how a worker's processes ended, with equal ends counted: `12 × exit 137, exit 0`. */
export function describeEnds(attempts: readonly WorkerAttempt[]): string {
  const counts = new Map<string, number>();
  for (const { exitCode, reason } of attempts) {
    const end = exitCode === undefined ? (reason ?? "no exit code") : `exit ${exitCode}`;
    counts.set(end, (counts.get(end) ?? 0) + 1);
  }
  const ends = [...counts].map(([end, count]) => (count === 1 ? end : `${count} × ${end}`));
  return [...ends.slice(0, maxEnds), ...(ends.length > maxEnds ? [`${ends.length - maxEnds} other exits`] : [])].join(
    ", ",
  );
}

/** Formats `12 (training resumed 11 times, longest pause 1.4 s)`; `undefined` if no worker was lost. */
export function describeLosses(
  attempts: readonly TrainingAttempt[],
  recoveries: readonly RecoveryRecord[],
): string | undefined {
  const losses = totalUsage(attempts)?.workerLosses ?? 0;
  if (losses === 0 && recoveries.length === 0) return undefined;
  const times = recoveries.length === 1 ? "once" : `${recoveries.length} times`;
  const measured = recoveries.flatMap(({ seconds }) => seconds ?? []);
  const longest = measured.length === 0 ? "" : `, longest pause ${formatDuration(Math.max(...measured) * 1000)}`;
  return `${losses} (training resumed ${times}${longest})`;
}

/** Formats cents; for less than a dollar, hundredths of a cent. */
function formatDollars(usd: number | undefined): string {
  return usd === undefined ? "–" : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
