import type { RunDetails, RunFailure } from "../runs/shapes";
import { spansOfRows, usageOf } from "../runs/usage";

const msPerHour = 3_600_000;

/**
 * Returns why a run that trains must end: a limit of its job that its attempts exceed. `undefined` if there is none.
 *
 * @param now milliseconds since the epoch
 */
export function exceededLimit(details: RunDetails, now: number): RunFailure | undefined {
  const { run } = details;
  const { hours, dollars } = run.job.limits ?? {};
  const kept = "its checkpoints are kept: `ringmaster runs restore` continues from one, with higher limits";
  const trained = trainedHours(details, now);
  if (hours !== undefined && trained > hours) {
    const message = `the run has trained for ${rounded(trained)} hours, and limits.hours is ${hours}; ${kept}`;
    return { code: "LIMIT_HOURS", message, phase: run.phase };
  }
  const cost = estimatedDollars(details, now);
  if (dollars === undefined || cost <= dollars) return undefined;
  const message = `the run has cost about $${rounded(cost)}, and limits.dollars is ${dollars}; ${kept}`;
  return { code: "LIMIT_DOLLARS", message, phase: run.phase };
}

/** Sums the attempts' times. The wait of an attempt in Batch's queue does not count. */
function trainedHours({ attempts, workers }: RunDetails, now: number): number {
  const times = attempts.map(({ attempt, endedAt }) => {
    const starts = spansOfRows(workers, attempt).map(({ startedAt }) => startedAt);
    if (starts.length === 0) return 0;
    return Math.max(0, (endedAt === undefined ? now : Date.parse(endedAt)) - Math.min(...starts));
  });
  return times.reduce((sum, time) => sum + time, 0) / msPerHour;
}

function estimatedDollars({ run, attempts, workers, machines }: RunDetails, now: number): number {
  return attempts.reduce((sum, attempt) => {
    const usage =
      attempt.usage ?? usageOf(attempt, run.job.resources, spansOfRows(workers, attempt.attempt), machines, now);
    return sum + (usage.estimatedUsd ?? 0);
  }, 0);
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
