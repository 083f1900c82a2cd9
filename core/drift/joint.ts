import type { ColumnSchema } from "../datasets/shapes";
import { uniformDraws } from "../evaluation/draws";
import { type Auc, aucOf, normalTail } from "./distributions";
import type { JointColumn, Sample } from "./sample";
import type { DriftThresholds, MultivariateDrift } from "./shapes";

/** A column whose values are numbered bins, so that a split is a set of bins. */
interface BinnedColumn {
  readonly bins: Uint8Array;
  /** Number of bins, at most 256. */
  readonly count: number;
  /** Whether the order of bins has a meaning. */
  readonly isOrdered: boolean;
}

interface ClassifierTest {
  /** Mean of both folds: 0.5 if a classifier cannot tell the samples apart. */
  readonly auc: number;
  /** Interval of the AUC at 95 %. */
  readonly low: number;
  readonly high: number;
  /** One-sided: an AUC below 0.5 is chance. */
  readonly pValue: number;
}

/** Settings of the boosted trees, the same for each test. */
const [minTrees, maxTrees, learningRate, penalty, minLeafRows] = [40, 80, 0.2, 5, 20];
const seed = 20_260_214;

/**
 * Tests whether two samples are of one distribution by a classifier that tells them apart (Lopez-Paz and Oquab, 2017).
 * The rows are divided into two folds at random. A model of each fold predicts the other one. The AUC of both are
 * averaged, and so are their standard errors: this holds for any dependence of the folds.
 *
 * The model is a sum of trees of two levels, boosted on the logistic loss. The first split of a tree divides a column in
 * the middle, a different column for each tree; the second splits have the greatest gain. So a change of the dependence
 * of two columns is found, although no column alone has changed.
 *
 * @param isCurrent 1 for rows of the second sample
 */
function classifierTest(columns: readonly BinnedColumn[], isCurrent: Uint8Array): ClassifierTest {
  const draw = uniformDraws(seed);
  const order = shuffled(
    Uint32Array.from(isCurrent, (_one, row) => row),
    draw,
  );
  // Each fold has half of the rows of each sample.
  const sides = [0, 1].map((side) => order.filter((row) => isCurrent[row] === side));
  const folds = [0, 1].map((fold) =>
    Uint32Array.from(sides.flatMap((rows) => [...rows].filter((_row, at) => at % 2 === fold))),
  ) as [Uint32Array, Uint32Array];
  const roots = rootsOf(columns, draw);
  const aucs = [
    heldOutAuc(columns, isCurrent, folds[0], folds[1], roots),
    heldOutAuc(columns, isCurrent, folds[1], folds[0], roots),
  ];
  const mean = (of: (one: Auc) => number) => (of(aucs[0]!) + of(aucs[1]!)) / 2;
  const [auc, error] = [mean((one) => one.auc), mean((one) => one.error)];
  const half = 1.96 * error;
  return {
    auc,
    low: Math.max(0, auc - half),
    high: Math.min(1, auc + half),
    pValue: error > 0 ? normalTail((auc - 0.5) / error) : auc > 0.5 ? 0 : 1,
  };
}

function shuffled(rows: Uint32Array, draw: () => number): Uint32Array {
  for (let at = rows.length - 1; at > 0; at -= 1) {
    const other = draw() % (at + 1);
    [rows[at], rows[other]] = [rows[other]!, rows[at]!];
  }
  return rows;
}

/** Returns the column of each tree's first split. Columns of one bin cannot be split. */
function rootsOf(columns: readonly BinnedColumn[], draw: () => number): Uint32Array {
  const usable = Uint32Array.from(columns.keys()).filter((column) => columns[column]!.count > 1);
  const trees = usable.length === 0 ? 0 : Math.min(maxTrees, Math.max(minTrees, usable.length));
  const cycle = shuffled(usable, draw);
  return Uint32Array.from({ length: trees }, (_root, tree) => cycle[tree % cycle.length]!);
}

function heldOutAuc(
  columns: readonly BinnedColumn[],
  isCurrent: Uint8Array,
  train: Uint32Array,
  test: Uint32Array,
  roots: Uint32Array,
): Auc {
  const total = train.reduce((sum, row) => sum + isCurrent[row]!, 0);
  const base = Math.log(total / (train.length - total));
  const scores = new Float64Array(isCurrent.length).fill(base);
  // The rows of the training fold, next to each other in memory.
  const trained = columns.map(({ bins, ...column }) => ({ ...column, bins: bins.slice(0, train.length) }));
  for (const [column, { bins }] of trained.entries()) {
    for (let at = 0; at < train.length; at += 1) bins[at] = columns[column]!.bins[train[at]!]!;
  }
  const gradients = new Float64Array(train.length);
  const hessians = new Float64Array(train.length);
  for (const root of roots) {
    for (let at = 0; at < train.length; at += 1) {
      const row = train[at]!;
      const probability = 1 / (1 + Math.exp(-scores[row]!));
      gradients[at] = isCurrent[row]! - probability;
      hessians[at] = probability * (1 - probability);
    }
    const isLeft = middleSplit(columns[root]!, train);
    const { bins } = columns[root]!;
    const branches = [0, 1].map((branch) =>
      bestSplit(trained, placesIn(trained[root]!.bins, isLeft, branch), gradients, hessians),
    );
    for (const rows of [train, test]) {
      for (let at = 0; at < rows.length; at += 1) {
        const row = rows[at]!;
        const { column, isLeft: left, leaves } = branches[isLeft[bins[row]!]!]!;
        scores[row]! += leaves[left[columns[column]!.bins[row]!]!]!;
      }
    }
  }
  return aucOf(
    Float64Array.from(test, (row) => scores[row]!),
    Uint8Array.from(test, (row) => isCurrent[row]!),
  );
}

/** Returns 1 for the lower bins with half of the rows. Categories are divided in the same way, by their numbers. */
function middleSplit({ bins, count }: BinnedColumn, rows: Uint32Array): Uint8Array {
  const counts = new Uint32Array(count);
  for (const row of rows) counts[bins[row]!]! += 1;
  const isLeft = new Uint8Array(count);
  let below = 0;
  for (let bin = 0; bin < count - 1 && below + counts[bin]! / 2 <= rows.length / 2; bin += 1) {
    isLeft[bin] = 1;
    below += counts[bin]!;
  }
  if (below === 0) isLeft[0] = 1;
  return isLeft;
}

/** Returns the places of the rows in one branch of a split. */
function placesIn(bins: Uint8Array, isLeft: Uint8Array, branch: number): Uint32Array {
  const places = new Uint32Array(bins.length);
  let count = 0;
  for (let at = 0; at < bins.length; at += 1) {
    if (isLeft[bins[at]!] !== branch) continue;
    places[count] = at;
    count += 1;
  }
  return places.subarray(0, count);
}

interface Split {
  readonly column: number;
  readonly isLeft: Uint8Array;
  /** Values of the right and of the left leaf. */
  readonly leaves: readonly [number, number];
}

/** Finds the split of rows with the greatest gain; one leaf for all of them if no split has a gain. */
function bestSplit(
  columns: readonly BinnedColumn[],
  places: Uint32Array,
  gradients: Float64Array,
  hessians: Float64Array,
): Split {
  let [allG, allH] = [0, 0];
  for (const at of places) {
    allG += gradients[at]!;
    allH += hessians[at]!;
  }
  const leaf = (g: number, h: number) => (learningRate * g) / (h + penalty);
  /** Sums of gradients and of hessians, and the rows of each bin. */
  const [sumG, sumH, rowsIn] = [new Float64Array(256), new Float64Array(256), new Uint32Array(256)];
  const order = new Uint8Array(256);
  let best: Split = { column: 0, isLeft: new Uint8Array(256), leaves: [leaf(allG, allH), 0] };
  let bestGain = allG ** 2 / (allH + penalty);
  for (const [column, { bins, count, isOrdered }] of columns.entries()) {
    if (count < 2) continue;
    sumG.fill(0, 0, count);
    sumH.fill(0, 0, count);
    rowsIn.fill(0, 0, count);
    for (let i = 0; i < places.length; i += 1) {
      const at = places[i]!;
      const bin = bins[at]!;
      sumG[bin]! += gradients[at]!;
      sumH[bin]! += hessians[at]!;
      rowsIn[bin]! += 1;
    }
    for (let bin = 0; bin < count; bin += 1) order[bin] = bin;
    // The best division of categories is one of those in the order of their means (Fisher, 1958).
    if (!isOrdered) {
      order.subarray(0, count).sort((a, b) => sumG[a]! / (sumH[a]! + penalty) - sumG[b]! / (sumH[b]! + penalty));
    }
    let [g, h, rows] = [0, 0, 0];
    for (let end = 1; end < count; end += 1) {
      const bin = order[end - 1]!;
      g += sumG[bin]!;
      h += sumH[bin]!;
      rows += rowsIn[bin]!;
      if (rows < minLeafRows || places.length - rows < minLeafRows) continue;
      const [otherG, otherH] = [allG - g, allH - h];
      const gain = g ** 2 / (h + penalty) + otherG ** 2 / (otherH + penalty);
      if (gain <= bestGain) continue;
      bestGain = gain;
      const isLeft = new Uint8Array(256);
      for (const left of order.subarray(0, end)) isLeft[left] = 1;
      best = { column, isLeft, leaves: [leaf(otherG, otherH), leaf(g, h)] };
    }
  }
  return best;
}

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
