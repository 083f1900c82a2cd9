import type { NextMove } from "../runs/attempts";
import type { Executions } from "../runs/ports";
import { isOpen } from "../runs/run-states";
import type { RunDetails, RunFailure } from "../runs/shapes";
import { spansOfRows, usageOf } from "../runs/usage";
import { closeRun } from "./close-run";
import { completeTraining } from "./complete-training";
import type { NextMoveDependencies } from "./next-move";

export interface ContinueTrainingDependencies extends NextMoveDependencies {
  readonly executions: Executions;
}

/**
 * Continues a run's training, or kills a run that exceeds a limit of its job: Batch ends its trainers, which store a
 * last checkpoint if they can. Only an end that is stored already goes before a limit. No error of its work keeps a run
 * beyond its limits.
 */
export async function continueTraining(
  dependencies: ContinueTrainingDependencies,
  runId: string,
): Promise<NextMove["move"] | "limit exceeded"> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) return "wait";
  const { run } = details;
  const mayBeKilled = isOpen(run.status) && run.phase === "LaunchTraining";
  const failure = mayBeKilled ? exceededLimit(details, dependencies.clock.now()) : undefined;
  if (failure === undefined) return completeTraining(dependencies, runId, { read: details });
  const move = await completeTraining(dependencies, runId, { read: details, isLast: true }).catch(
    () => "wait" as const,
  );
  if (move !== "wait") return move;
  await closeRun(dependencies, run, { status: "killed", failure }, dependencies.executions);
  return "limit exceeded";
}

const msPerHour = 3_600_000;

/**
 * Returns why a run that trains must end: a limit of its job that its attempts exceed. `undefined` if there is none.
 * @param now milliseconds since the epoch
 */
function exceededLimit(details: RunDetails, now: number): RunFailure | undefined {
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
