import { workersPerHost } from "./resources";
import type { RunStatus } from "./run-states";
import type { Run, RunOutcome, TrainingAttempt } from "./shapes";

/** Facts that determine the kind of an attempt's Batch job. */
export type JobKind = Pick<TrainingAttempt, "market" | "placement" | "workers" | "workersPerHost">;

/** Returns the kind of a run's next attempt. One host needs no others close to it. */
export function jobKindOf(run: Pick<Run, "workers" | "job">, market: JobKind["market"]): JobKind {
  const { resources } = run.job;
  const workers = workersOf(run);
  const perHost = workersPerHost(resources);
  const clusters = resources.placement === "cluster" && market === "on-demand" && workers > perHost;
  return {
    market,
    placement: clusters ? "cluster" : "spread",
    workers,
    ...(perHost === 1 ? {} : { workersPerHost: perHost }),
  };
}

export function containersOf({ workers, workersPerHost: perHost = 1 }: JobKind): number {
  return Math.ceil(workers / perHost);
}

export function workersOf({ workers, job }: Pick<Run, "workers" | "job">): number {
  return workers ?? job.resources.workers;
}

/** Describes a run's outcome: the decision on its version, or what its gates would decide. */
export function outcomeText(outcome: RunOutcome): string {
  const reasons = "reasons" in outcome && outcome.reasons.length > 0 ? `: ${outcome.reasons.join("; ")}` : "";
  if (outcome.decision === "not-registered")
    return `registers no model; its gates would ${outcome.passed ? "let it pass" : "refuse it"}${reasons}`;
  const { model, version, decision } = outcome;
  return `${model} version ${version} was ${decision.replaceAll("-", " ")}${reasons}`;
}

/** Returns the status for display. `unreadable`: why a part of the run's record cannot be read. */
export function displayedStatus(run: { readonly status: RunStatus; readonly unreadable?: string | undefined }) {
  return run.unreadable === undefined ? run.status : "unreadable";
}

/** Times of a run's record, in milliseconds since the epoch. */
export interface RunTimes {
  readonly startedAt: number;
  /** Start of the current wait of its job for free workers. */
  readonly queuedAt?: number;
  /** Milliseconds of its jobs' earlier waits. */
  readonly queuedMs?: number;
  readonly endedAt?: number;
}

export function timesOf(run: Pick<Run, "createdAt" | "queuedAt" | "queuedMs" | "endedAt">): RunTimes {
  return {
    startedAt: Date.parse(run.createdAt),
    ...(run.queuedAt === undefined ? {} : { queuedAt: Date.parse(run.queuedAt) }),
    ...(run.queuedMs === undefined ? {} : { queuedMs: run.queuedMs }),
    ...(run.endedAt === undefined ? {} : { endedAt: Date.parse(run.endedAt) }),
  };
}

/** Returns the time up to which a run has worked, unless it waits or has ended: the start of its pause, or `now`. */
export function workedUntil({ pausedAt }: Pick<Run, "status" | "pausedAt">, now: number): number {
  return pausedAt === undefined ? now : Date.parse(pausedAt);
}

/** Returns the milliseconds from a run's creation to its end, or else to `now`, without waits for free workers. */
export function workMs({ startedAt, queuedAt = Infinity, queuedMs = 0, endedAt }: RunTimes, now: number): number {
  return Math.max(0, Math.min(queuedAt, endedAt ?? now) - startedAt - queuedMs);
}
