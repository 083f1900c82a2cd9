import type { ColumnSchema, DatasetManifest } from "../datasets/shapes";
import { quantile } from "../evaluation/draws";
import type { RowSource } from "../features/values";
import { jointColumnsOf, measureJoint } from "./joint";
import { adjustedPValues, binDistances, categoryTest, kolmogorovSmirnov, wasserstein } from "./measures";
import { type ColumnSample, readSample, type Sample } from "./sample";
import type { ColumnDrift, DriftBins, DriftReport, DriftThresholds, Measurement, SchemaChange } from "./shapes";
import { type Severity, severities } from "./shapes";

export interface MeasuredVersion {
  readonly manifest: DatasetManifest;
  readonly rows: RowSource;
}

/**
 * Measures the differences between the rows of two versions: for each column that both have and that is not ignored, the
 * distances of its distributions and a test whether they differ; and a test of all these columns together.
 */
export async function measureDrift(
  baseline: MeasuredVersion,
  current: MeasuredVersion,
  thresholds: DriftThresholds,
): Promise<DriftReport> {
  const shared = sharedColumns(baseline.manifest.schema, current.manifest.schema);
  const joint = jointColumnsOf(shared);
  const before = await readSample(baseline.manifest, baseline.rows, shared, joint);
  const after = await readSample(current.manifest, current.rows, shared, joint);
  const schema = schemaChanges(baseline.manifest.schema, current.manifest.schema);
  return {
    baseline: referenceOf(baseline.manifest),
    current: referenceOf(current.manifest),
    ...measureSamples(before, after, pairsOf(shared, before, after), schema, thresholds),
  };
}

export interface ColumnPair {
  readonly column: Pick<ColumnDrift, "role"> & Pick<ColumnSchema, "name" | "type">;
  readonly baseline: ColumnSample;
  readonly current: ColumnSample;
}

export const pairsOf = (columns: readonly ColumnSchema[], before: Sample, after: Sample): readonly ColumnPair[] =>
  columns.map((column) => {
    const [baseline, current] = [before.columns.get(column.name)!, after.columns.get(column.name)!];
    return { column, baseline, current };
  });

/** Measures the differences between columns, and between the whole rows of two samples. */
export function measureSamples(
  before: Sample,
  after: Sample,
  pairs: readonly ColumnPair[],
  schema: readonly SchemaChange[],
  thresholds: DriftThresholds,
): Measurement {
  const measured = pairs.map(({ column, baseline, current }) => measureColumn(column, baseline, current));
  const adjusted = adjustedPValues(measured.map(({ pValue }) => pValue));
  const columns = measured.map((one, index): ColumnDrift => {
    const adjustedPValue = adjusted[index]!;
    const isDrift = adjustedPValue < thresholds.level && one.distance >= thresholds.distance;
    const severity = one.psi > thresholds.psi ? "critical" : "warning";
    return { ...one, adjustedPValue, ...(isDrift ? { severity } : {}) };
  });
  const multivariate = measureJoint(before.joint, after.joint, thresholds);
  const changes = [...columns, ...schema, ...(multivariate ? [multivariate] : [])];
  const severity = highest(changes.map((one) => one.severity));
  return {
    thresholds,
    rows: { baseline: before.rows, current: after.rows },
    schema,
    columns,
    ...(multivariate ? { multivariate } : {}),
    ...(severity ? { severity } : {}),
  };
}

export const referenceOf = ({ name, version, digest }: DatasetManifest) => ({ name, version, digest });

function highest(values: readonly (Severity | undefined)[]): Severity | undefined {
  return [...severities].reverse().find((severity) => values.includes(severity));
}

function sharedColumns(before: readonly ColumnSchema[], after: readonly ColumnSchema[]): readonly ColumnSchema[] {
  return after.flatMap((column) => {
    const oldColumn = before.find(({ name }) => name === column.name);
    const isSame = oldColumn?.type === column.type && String(oldColumn.shape) === String(column.shape);
    // Whether numbers are categories depends on the baseline, so that both sides are read alike.
    return isSame && column.role !== "ignore" ? { ...column, values: oldColumn.values } : [];
  });
}

function schemaChanges(before: readonly ColumnSchema[], after: readonly ColumnSchema[]): readonly SchemaChange[] {
  const typeOf = ({ type, shape }: ColumnSchema): string => (shape ? `${type}[${shape}]` : type);
  const isGone = ({ name }: ColumnSchema): boolean => !after.some((column) => column.name === name);
  return [
    ...before.filter(isGone).map(
      (column): SchemaChange => ({
        ...{ column: column.name, change: "removed", before: typeOf(column) },
        severity: column.role === "ignore" ? "warning" : "critical",
      }),
    ),
    ...after.flatMap((column): readonly SchemaChange[] => {
      const oldColumn = before.find(({ name }) => name === column.name);
      if (!oldColumn) return [{ column: column.name, change: "added", after: typeOf(column), severity: "warning" }];
      if (typeOf(oldColumn) === typeOf(column)) return [];
      const types = { before: typeOf(oldColumn), after: typeOf(column) };
      return [{ column: column.name, change: "type", ...types, severity: "critical" }];
    }),
  ];
}

type Measured = Omit<ColumnDrift, "adjustedPValue" | "severity">;

function measureColumn(column: ColumnPair["column"], baseline: ColumnSample, current: ColumnSample): Measured {
  const side = ({ rows, missing }: ColumnSample) => ({ rows, missing });
  const named = { column: column.name, type: column.type, role: column.role };
  const sides = { baseline: side(baseline), current: side(current) };
  return baseline.kind === "number" && current.kind === "number"
    ? { ...named, ...sides, ...measureNumbers(baseline, current) }
    : { ...named, ...sides, ...measureCategories(baseline, current) };
}

type Numbers = Extract<ColumnSample, { kind: "number" }>;
type Distances = Omit<Measured, "column" | "type" | "role" | "baseline" | "current">;

/** Bins of the index and the divergences, by quantiles of the baseline. */
const quantileBins = 10;
const plottedBins = 20;

function measureNumbers(baseline: Numbers, current: Numbers): Distances {
  const edges = new Set<number>();
  if (baseline.values.length > 0) {
    for (let bin = 1; bin < quantileBins; bin += 1) edges.add(quantile(baseline.values, bin / quantileBins));
  }
  const counted = (sample: Numbers) => [...countBins(sample.values, [...edges]), sample.missing];
  const ks = kolmogorovSmirnov(baseline.values, current.values);
  const missing = categoryTest([baseline.values.length, baseline.missing], [current.values.length, current.missing]);
  const hasMissing = baseline.missing + current.missing > 0;
  const missingShare = ({ missing: rows, rows: all }: Numbers) => (all === 0 ? 0 : rows / all);
  const deviation = standardDeviation(baseline.values);
  const distance = wasserstein(baseline.values, current.values);
  return {
    ...binDistances(counted(baseline), counted(current)),
    ...{ test: "kolmogorov-smirnov", statistic: ks.statistic },
    // Two tests of one column: Bonferroni's correction.
    pValue: hasMissing ? Math.min(1, 2 * Math.min(ks.pValue, missing.pValue)) : ks.pValue,
    distance: Math.max(ks.statistic, Math.abs(missingShare(baseline) - missingShare(current))),
    wasserstein: deviation > 0 ? distance / deviation : distance,
    bins: plottedNumbers(baseline, current),
  };
}

/** Counts sorted values by bin: at most the first edge, at most the second one, …, above the last one. */
function countBins(values: Float64Array, edges: readonly number[]): readonly number[] {
  let at = 0;
  const counts = edges.map((edge) => {
    const first = at;
    while (at < values.length && values[at]! <= edge) at += 1;
    return at - first;
  });
  return [...counts, values.length - at];
}

function standardDeviation(values: Float64Array): number {
  let [mean, squares] = [0, 0];
  for (const [index, value] of values.entries()) {
    const difference = value - mean;
    mean += difference / (index + 1);
    squares += difference * (value - mean);
  }
  return values.length === 0 ? 0 : Math.sqrt(squares / values.length);
}

/** Returns bins of equal width between the 1st and the 99th percentile of both samples, and the rows outside. */
function plottedNumbers(baseline: Numbers, current: Numbers): DriftBins {
  const filled = [baseline.values, current.values].filter((values) => values.length > 0);
  const low = Math.min(...filled.map((values) => quantile(values, 0.01)));
  const high = Math.max(...filled.map((values) => quantile(values, 0.99)));
  const edges =
    filled.length === 0 || low === high
      ? filled.length === 0
        ? []
        : [low]
      : Array.from({ length: plottedBins + 1 }, (_edge, bin) => low + ((high - low) * bin) / plottedBins);
  const text = (value: number) => String(Number(value.toPrecision(4)));
  const names = [
    ...edges.map((edge, bin) => (bin === 0 ? `≤ ${text(edge)}` : `${text(edges[bin - 1]!)} – ${text(edge)}`)),
    ...(edges.length > 0 ? [`> ${text(edges.at(-1)!)}`] : ["none"]),
    "missing",
  ];
  const counted = ({ values, missing }: Numbers) => [...countBins(values, edges), missing];
  return { names, baseline: counted(baseline), current: counted(current) };
}

/** Categories that are compared each; rarer ones are compared together. */
const maxCategories = 100;
/** With fewer rows on both sides a category is compared with the other rare ones. */
const minCategoryRows = 10;

function measureCategories(baseline: ColumnSample, current: ColumnSample): Distances {
  const counts = [baseline, current].map((sample) => (sample.kind === "category" ? sample.counts : new Map())) as [
    ReadonlyMap<string, number>,
    ReadonlyMap<string, number>,
  ];
  const both = new Map<string, number>();
  for (const side of counts) for (const [name, rows] of side) both.set(name, (both.get(name) ?? 0) + rows);
  const kept = [...both]
    .filter(([, rows]) => rows >= minCategoryRows)
    .sort(([one, rows], [other, more]) => more - rows || (one < other ? -1 : 1))
    .slice(0, maxCategories)
    .map(([name]) => name);
  const counted = (side: ReadonlyMap<string, number>, { rows, missing }: ColumnSample) => {
    const each = kept.map((name) => side.get(name) ?? 0);
    return [...each, rows - missing - each.reduce((sum, one) => sum + one, 0), missing];
  };
  const [before, after] = [counted(counts[0], baseline), counted(counts[1], current)];
  const shares = (all: readonly number[], { rows }: ColumnSample) => all.map((one) => (rows === 0 ? 0 : one / rows));
  const [p, q] = [shares(before, baseline), shares(after, current)];
  return {
    ...binDistances(before, after),
    ...{ test: "chi-square", ...categoryTest(before, after) },
    distance: p.reduce((sum, share, bin) => sum + Math.abs(share - q[bin]!), 0) / 2,
    bins: { names: [...kept, "other", "missing"], baseline: before, current: after },
  };
}
