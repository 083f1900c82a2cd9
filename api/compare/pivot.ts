import { byRank, goalOf } from "../../core/evaluation/metric-goal";
import { numericsIdentity } from "../../core/runs/numerics";
import type { MetricSummary } from "../../core/tracking/metric-store";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { RunRecord } from "../../core/tracking/shapes";
import type { Goal, MetricCell, MetricRow, Row } from "./comparison";

/**
 * Returns the params that differ between the runs, and the others; by name. Equal numbers in different notation
 * (`1e-3`, `0.001`) are the same.
 */
export function paramRows(runs: readonly SearchedRun[]): {
  readonly differing: readonly Row[];
  readonly common: readonly { readonly name: string; readonly value: string }[];
} {
  const rows = rowsOf(runs.map(({ record }) => record.params));
  return {
    differing: rows.filter(differs),
    common: rows.filter((row) => !differs(row)).map(({ name, values }) => ({ name, value: values[0]! })),
  };
}

/** Returns the union of the names, in order, with each run's value or `null`. */
function rowsOf(columns: readonly Readonly<Record<string, string>>[]): readonly Row[] {
  const names = [...new Set(columns.flatMap(Object.keys))].sort();
  return names.map((name) => ({
    name,
    values: columns.map((column) => (Object.hasOwn(column, name) ? column[name]! : null)),
  }));
}

function differs({ values }: Row): boolean {
  return new Set(values.map((value) => (value === null ? null : normalText(value)))).size > 1;
}

function normalText(text: string): string {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? String(Number(text)) : `text ${text}`;
}

/** Returns a row for each metric, those of most runs first, each value with its difference from the baseline's. */
export function metricRows(
  runs: readonly SearchedRun[],
  metrics: readonly string[],
  baseline: string | undefined,
  goals: Readonly<Record<string, Goal>>,
): readonly MetricRow[] {
  const base = runs.find(({ record }) => record.runId === baseline);
  return metrics.map((metric) => {
    const goal = Object.hasOwn(goals, metric) ? goals[metric] : goalOf(metric);
    const summaries = runs.map((run) => run.metrics.find((one) => one.metric === metric));
    const from = base?.metrics.find((one) => one.metric === metric)?.last;
    return {
      metric,
      goal,
      values: summaries.map((summary, at) =>
        summary === undefined ? null : cellOf(summary, runs[at] === base ? undefined : from),
      ),
      best: goal === undefined ? [] : bestOf(runs, summaries, goal),
    };
  });
}

function cellOf({ last, lastStep, min, max }: MetricSummary, from: number | undefined): MetricCell {
  const delta = from === undefined ? Number.NaN : last - from;
  return {
    ...{ last, lastStep, min, max },
    ...(Number.isFinite(delta) ? { delta } : {}),
    ...(Number.isFinite(delta) && from !== undefined && from !== 0 ? { relativeDelta: delta / Math.abs(from) } : {}),
  };
}

function bestOf(
  runs: readonly SearchedRun[],
  summaries: readonly (MetricSummary | undefined)[],
  goal: Goal,
): readonly string[] {
  const candidates = summaries.flatMap((one, at) =>
    one === undefined || Number.isNaN(one.last) ? [] : [{ last: one.last, runId: runs[at]!.record.runId }],
  );
  if (candidates.length < 2) return [];
  const best = candidates.reduce((a, b) => ((goal === "min" ? b.last < a.last : b.last > a.last) ? b : a)).last;
  return candidates.filter(({ last }) => last === best).map(({ runId }) => runId);
}

/**
 * Returns all metrics of the runs: first by the number of runs, then by rank; metrics of machines (`system/…`) last.
 */
export function metricsOf(runs: readonly SearchedRun[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { metrics } of runs) for (const { metric } of metrics) counts.set(metric, (counts.get(metric) ?? 0) + 1);
  const rank = byRank(runs.map(({ record }) => record));
  const isSystem = (metric: string): number => Number(metric.startsWith("system/"));
  return [...counts]
    .sort(([a, countA], [b, countB]) => isSystem(a) - isSystem(b) || countB - countA || rank(a, b))
    .map(([metric]) => metric);
}

export function differencesOf(records: readonly RunRecord[]): {
  readonly code: readonly Row[];
  readonly data: readonly Row[];
  readonly environment: readonly Row[];
} {
  const differing = (fieldsOf: (record: RunRecord) => Readonly<Record<string, string | undefined>>): readonly Row[] =>
    rowsOf(records.map((record) => defined(fieldsOf(record)))).filter(differs);
  return {
    code: differing(codeFields),
    data: differing(dataFields),
    environment: differing(environmentFields),
  };
}

function codeFields({ code }: RunRecord): Readonly<Record<string, string | undefined>> {
  return {
    commit: code.commit,
    dirty: code.dirty === undefined ? undefined : String(code.dirty),
    repository: code.repository,
    branch: code.branch,
    diff: code.diffSha256,
    module: code.moduleSha256,
    "entry point": code.entryPoint,
  };
}

/** Combines the digests if a run reads several datasets of one name. */
function dataFields({ datasets }: RunRecord): Readonly<Record<string, string | undefined>> {
  const digests = new Map<string, string[]>();
  for (const { name, version, digest } of datasets) {
    const shown = version === undefined ? digest : `version ${version} (${digest.slice(0, 12)})`;
    digests.set(name, [...(digests.get(name) ?? []), shown]);
  }
  return Object.fromEntries([...digests].map(([name, all]) => [name, all.sort().join(", ")]));
}

function environmentFields({ environment, seed }: RunRecord): Readonly<Record<string, string | undefined>> {
  const { lockfileSha256, image, imageDigest, numerics, hardware } = environment;
  return {
    seed: seed === undefined ? undefined : String(seed),
    lockfile: lockfileSha256,
    image: imageDigest ?? image,
    "hardware.instances": hardware?.instanceTypes.join(", ") || undefined,
    "hardware.cpu": hardware?.cpu,
    "hardware.gpu": hardware?.gpu,
    ...(numerics === undefined
      ? {}
      : Object.fromEntries(
          Object.entries(numericsIdentity(numerics)).map(([field, value]) => [`numerics.${field}`, value]),
        )),
  };
}

function defined(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
