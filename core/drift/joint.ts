import type { ColumnSchema } from "../datasets/shapes";
import { uniformDraws } from "../evaluation/draws";
import type { JointColumn, Sample } from "./sample";
import type { DriftThresholds, MultivariateDrift } from "./shapes";
import { type BinnedColumn, classifierTest } from "./two-sample-classifier";

/** Bounds the time of the test. */
const maxColumns = 200;
/** With fewer rows in a sample there is no test. */
const minRows = 100;
const [numberBins, categoryBins] = [32, 64];
const criticalAuc = 0.7;

/** Returns the columns that are tested together. Of more than 200 it is a fixed random choice. */
export function jointColumnsOf(columns: readonly ColumnSchema[]): readonly ColumnSchema[] {
  if (columns.length <= maxColumns) return columns;
  const draw = uniformDraws(columns.length);
  return columns
    .map((column) => ({ column, place: draw() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, maxColumns)
    .map(({ column }) => column);
}

/** Tests whether the whole rows of two samples are of one distribution; `undefined` if there are too few rows. */
export function measureJoint(
  baseline: Sample["joint"],
  current: Sample["joint"],
  { level, distance }: DriftThresholds,
): MultivariateDrift | undefined {
  if (Math.min(baseline.rows, current.rows) < minRows || baseline.columns.size === 0) return undefined;
  const columns = [...baseline.columns].map(([name, before]) => binned(before, current.columns.get(name)!));
  const isCurrent = new Uint8Array(baseline.rows + current.rows).fill(1, baseline.rows);
  const test = classifierTest(columns, isCurrent);
  const isDrift = test.pValue < level && 2 * test.auc - 1 >= distance;
  return {
    ...test,
    rows: { baseline: baseline.rows, current: current.rows },
    columns: columns.length,
    ...(isDrift ? { severity: test.auc > criticalAuc ? "critical" : "warning" } : {}),
  };
}

/** Numbers the values of both samples by bins; bin 0 is for missing values. */
function binned(baseline: JointColumn, current: JointColumn): BinnedColumn {
  if (baseline.kind === "number" && current.kind === "number") {
    const values = Float64Array.from([...baseline.values, ...current.values], (value) => value ?? Number.NaN);
    const sorted = values.filter((value) => !Number.isNaN(value)).sort();
    const edges = new Set<number>();
    for (let bin = 1; bin < numberBins - 1 && sorted.length > 0; bin += 1) {
      edges.add(sorted[Math.floor((bin * sorted.length) / (numberBins - 1))]!);
    }
    const limits = [...edges];
    const bins = new Uint8Array(values.length);
    for (const [at, value] of values.entries()) bins[at] = Number.isNaN(value) ? 0 : 1 + placeOf(limits, value);
    return { bins, count: limits.length + 2, isOrdered: true };
  }
  const values = [...baseline.values, ...current.values].map((value) => (value === undefined ? value : String(value)));
  const counts = new Map<string, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  const kept = [...counts]
    .sort(([one, rows], [other, more]) => more - rows || (one < other ? -1 : 1))
    .slice(0, categoryBins - 2)
    .map(([name], at) => [name, at + 2] as const);
  const binsOf = new Map(kept);
  const bins = Uint8Array.from(values, (value) => (value === undefined ? 0 : (binsOf.get(value) ?? 1)));
  return { bins, count: kept.length + 2, isOrdered: false };
}

/** Returns the number of sorted limits that are below a value. */
function placeOf(limits: readonly number[], value: number): number {
  let [low, high] = [0, limits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (limits[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
