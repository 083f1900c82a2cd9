import { type Clock, isoTime } from "../ports";
import type { RunRepository } from "../runs/run-repository";
import type { Run, RunDetails } from "../runs/shapes";
import { findOutput } from "../runs/step";
import { trainingKind } from "../runs/training-task";
import type { MetricStore } from "../tracking/metric-store";
import { runSegment } from "./decide";
import type { Trial } from "./shapes";
import type { StudyDefinition } from "./study";

export interface ObserveDependencies {
  readonly runs: Pick<RunRepository, "find" | "findDetails">;
  readonly metrics: Pick<MetricStore, "read" | "summaries">;
  readonly clock: Clock;
}

/** The state of a running trial's run: its segment has ended, is at work, or has still to be started. */
export type Observation =
  | { readonly kind: "ended"; readonly trial: Trial }
  | { readonly kind: "working" }
  | { readonly kind: "missing"; readonly trial: Trial };

export async function observe(
  dependencies: ObserveDependencies,
  definition: StudyDefinition,
  trial: Trial,
): Promise<Observation> {
  const { runs, clock } = dependencies;
  const run = trial.runId === undefined ? undefined : await runs.find(trial.runId);
  if (run === undefined) return { kind: "missing", trial };
  const ended = (state: Trial["state"], more: Partial<Trial> = {}): Observation => ({
    kind: "ended",
    trial: { ...trial, state, ...more, ...(state === "paused" ? {} : { endedAt: run.endedAt ?? isoTime(clock) }) },
  });
  if (run.status === "failed" || run.status === "killed") {
    const { code, message } = run.failure ?? { code: run.status.toUpperCase(), message: `the run is ${run.status}` };
    return ended("failed", { reason: `${code}: ${message}`, ...(await costOf(dependencies, run)) });
  }
  if ((run.segment ?? 0) < runSegment(trial)) return { kind: "missing", trial };
  if (run.status !== "paused" && run.status !== "completed") return { kind: "working" };
  const [result, cost] = await Promise.all([resultOf(dependencies, definition, trial, run), costOf(dependencies, run)]);
  if ("reason" in result) return ended("failed", { ...cost, ...result });
  return ended(run.status, { ...cost, ...result });
}

type Result = Pick<Trial, "reports" | "values" | "constraints">;

async function resultOf(
  { runs, metrics }: ObserveDependencies,
  { objectives, constraints }: StudyDefinition,
  trial: Trial,
  run: Run,
): Promise<Result | (Pick<Trial, "reports"> & { readonly reason: string })> {
  const { runId } = run;
  const complete = run.status === "completed";
  const [first] = objectives;
  const [points, summaries] = await Promise.all([
    first?.metric.startsWith("validation/") ? metrics.read(runId, first.metric) : [],
    metrics.summaries(runId),
  ]);
  const last = new Map(summaries.map(({ metric, last }) => [metric, last]));
  if (complete && run.job.earlyStopping) {
    // The result is the best epoch, not the last one.
    const training = findOutput((await runs.findDetails(runId)) ?? { steps: [] }, trainingKind);
    for (const [metric, value] of Object.entries(training?.metrics ?? {})) last.set(metric, value);
  }
  const read = reportsOf(points, trial);
  const invalid = read.find(({ value }) => !Number.isFinite(value));
  const reports = read.filter(({ value }) => Number.isFinite(value));
  if (invalid) return { reports, reason: `${first?.metric} is ${invalid.value} after epoch ${invalid.epoch}` };
  // A paused trial is compared by its reports alone.
  const needed = complete ? [...objectives, ...constraints] : objectives.slice(0, 1);
  for (const { metric } of needed) {
    const value = last.get(metric);
    if (value === undefined) return { reports, reason: missingMetric(metric, [...last.keys()]) };
    if (!Number.isFinite(value)) return { reports, reason: `${metric} is ${value}` };
  }
  if (!complete) return { reports };
  return {
    reports,
    values: objectives.map(({ metric }) => last.get(metric) as number),
    ...(constraints.length === 0
      ? {}
      : { constraints: constraints.map((limit) => violation(limit, last.get(limit.metric) as number)) }),
  };
}

/**
 * Numbers the points of a validation metric by epoch: each epoch has one, at its last step. A trial that began with a
 * checkpoint validates it first; its reports from before stay.
 */
function reportsOf(
  points: readonly { readonly step: number; readonly value: number }[],
  { reports, from }: Trial,
): Trial["reports"] {
  const stepsPerEpoch = (points[0]?.step ?? 1) / (from?.epoch ?? 1);
  const read = points.map(({ step, value }) => ({ epoch: Math.round(step / stepsPerEpoch), value }));
  const first = read[0]?.epoch ?? Number.POSITIVE_INFINITY;
  return [...reports.filter(({ epoch }) => epoch < first), ...read];
}

/** Returns by how much a value breaks a limit; at most 0 if it keeps it. */
function violation({ min, max }: StudyDefinition["constraints"][number], value: number): number {
  return Math.max(min === undefined ? -Infinity : min - value, max === undefined ? -Infinity : value - max);
}

const maxNames = 40;

function missingMetric(metric: string, available: readonly string[]): string {
  const names = available.filter((name) => !name.startsWith("system/")).sort();
  const list = names.length === 0 ? "none" : names.slice(0, maxNames).join(", ");
  return `the metric ${metric} was never logged; the run logged: ${list}`;
}

async function costOf({ runs }: ObserveDependencies, { runId }: Run): Promise<Pick<Trial, "seconds" | "dollars">> {
  return sumUsage(await runs.findDetails(runId));
}

function sumUsage(details: RunDetails | undefined): Pick<Trial, "seconds" | "dollars"> {
  const usages = (details?.attempts ?? []).flatMap(({ usage }) => usage ?? []);
  const priced = usages.flatMap(({ estimatedUsd }) => estimatedUsd ?? []);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    ...(usages.length === 0 ? {} : { seconds: sum(usages.map(({ workerSeconds }) => workerSeconds)) }),
    ...(priced.length === 0 ? {} : { dollars: sum(priced) }),
  };
}
