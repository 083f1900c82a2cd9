import type { TaskKind } from "../datasets/shapes";
import { sourcesOfOutputs } from "../feature-plans/compile";
import type { DecodedShard } from "../features/encoding";
import type { FeatureTransform, LabelEncoding } from "../features/shapes";
import type { Decision } from "../runs/decision";
import { decided } from "./decision";
import { uniformDraws } from "./draws";
import { lessIsBetter } from "./metric-goal";
import { metricsOfTask, type Predictions } from "./metrics";
import type { RowPredictor } from "./predict";
import type { ImportanceReport } from "./shapes";
import { metricStatistic } from "./slices/statistics";

/** Numbers of permutations of each column: more for fewer rows, whose results vary more. */
const permutations = { min: 5, max: 30, rows: 5_000 } as const;
const seed = 0;
const limits = {
  rows: 1_000,
  columns: 50,
  /** Dense elements of the sampled rows, 4 bytes each. */
  elements: 2 ** 23,
  /** Multiply-adds of the model for all permuted rows: some seconds of a processor. */
  operations: 2e9,
} as const;
/** With fewer rows, chance decides. */
const minRows = 20;

/** Size of weights, each of which costs an operation, above which the bounds leave too few rows. */
export const maxWeightBytes = (4 * limits.operations) / (2 * permutations.min * minRows);

/** Columns that are permuted together, with their places in a dense row. */
interface Group {
  readonly columns: readonly string[];
  readonly places: readonly { readonly offset: number; readonly width: number }[];
}

/** Rows of the test split on which the importance of columns is measured. */
export interface ImportanceSample {
  /** Takes from a shard the rows of the sample. @param first number of the shard's first row in the split */
  add(shard: DecodedShard, first: number): void;
  /** Measures the sampled rows. @returns `undefined` if the metric is not defined for them */
  measure(task: TaskKind, predictor: RowPredictor, decision: Decision | undefined): ImportanceReport | undefined;
}

/**
 * Plans to measure the permutation importance of columns (Breiman, 2001): how much worse the main metric becomes when
 * the values of a column are permuted between rows. Columns that a step of a plan combines are permuted together. The
 * cost is bounded by numbers, not by time, so the result is a function of features and weights.
 *
 * @param count returns the model's multiply-adds for a row; `undefined`: do not measure
 * @returns `undefined` if there is a single group of columns, or the bounds leave too few rows
 */
export async function planImportance(
  { transform, label }: { readonly transform: FeatureTransform; readonly label: LabelEncoding },
  testRows: number,
  count: () => Promise<number | undefined>,
): Promise<ImportanceSample | undefined> {
  const all = groupsOf(transform);
  if (all.length < 2 || testRows < minRows) return undefined;
  const operations = await count();
  if (operations === undefined) return undefined;
  const groups = all.slice(0, limits.columns);
  const { width } = transform;
  const rows = Math.min(
    testRows,
    limits.rows,
    Math.floor(limits.elements / width),
    Math.floor(limits.operations / (groups.length * permutations.min * Math.max(1, operations))),
  );
  if (rows < minRows) return undefined;
  const affordable = Math.min(permutations.rows / rows, limits.operations / (groups.length * rows * operations));
  const repeats = Math.max(permutations.min, Math.min(permutations.max, Math.floor(affordable)));
  const inputs = new Float32Array(rows * width);
  const labels = label.kind === "class" ? new Int32Array(rows) : new Float32Array(rows);
  const draw = uniformDraws(seed);
  let taken = 0;
  return {
    add(view, first) {
      // Selection sampling (Knuth, algorithm S): each set of rows has the same probability.
      for (let row = 0; row < view.rows && taken < rows; row += 1) {
        const left = testRows - first - row;
        if ((draw() / 4_294_967_296) * left >= rows - taken) continue;
        view.writeRow(row, inputs, taken * width);
        labels[taken] = view.labelAt(row);
        taken += 1;
      }
    },
    measure(task, predictor, decision) {
      const permuted = inputs.slice();
      const predicted = () => predictionsOf(predictor, { inputs: permuted, labels, label }, decision);
      const first = predicted();
      // The sample may lack a class, for which the primary metric is undefined.
      const metric = metricsOfTask(task).find((name) => metricOf(name, first) !== undefined);
      if (metric === undefined) return undefined;
      const baseline = metricOf(metric, first)!;
      const measured = () => metricOf(metric, predicted());
      const sign = lessIsBetter(metric) ? -1 : 1;
      const inOrder = Uint32Array.from({ length: rows }, (_, at) => at);
      const columns = groups.map(({ columns: names, places }, group) => {
        const drops: number[] = [];
        for (let repeat = 0; repeat < repeats; repeat += 1) {
          const order = permutation(rows, seed + 1 + group * repeats + repeat);
          copyColumns(inputs, permuted, places, order);
          drops.push(sign * (baseline - (measured() ?? baseline)));
        }
        copyColumns(inputs, permuted, places, inOrder);
        return { columns: [...names], ...summaryOf(drops) };
      });
      columns.sort((a, b) => b.mean - a.mean);
      const omitted = all.length - groups.length;
      return { metric, baseline, rows, repeats, seed, columns, ...(omitted > 0 ? { omitted } : {}) };
    },
  };
}

/** Copies places of dense rows: row n gets those of row `order[n]`. */
function copyColumns(from: Float32Array, to: Float32Array, places: Group["places"], order: Uint32Array): void {
  const width = from.length / order.length;
  for (const place of places) {
    for (let row = 0; row < order.length; row += 1) {
      const source = order[row]! * width + place.offset;
      const target = row * width + place.offset;
      for (let at = 0; at < place.width; at += 1) to[target + at] = from[source + at]!;
    }
  }
}

function groupsOf(transform: FeatureTransform): readonly Group[] {
  const { outputs, plan } = transform;
  const sources = plan ? sourcesOfOutputs(plan) : outputs.map(({ column }) => [column]);
  const groups: { columns: Set<string>; places: { offset: number; width: number }[] }[] = [];
  for (const [index, { offset, width }] of outputs.entries()) {
    const joined = groups.filter(({ columns }) => sources[index]!.some((name) => columns.has(name)));
    const [first = { columns: new Set<string>(), places: [] }, ...others] = joined;
    if (joined.length === 0) groups.push(first);
    for (const other of others) {
      for (const name of other.columns) first.columns.add(name);
      first.places.push(...other.places);
      groups.splice(groups.indexOf(other), 1);
    }
    for (const name of sources[index]!) first.columns.add(name);
    first.places.push({ offset, width });
  }
  return groups.map(({ columns, places }) => ({ columns: [...columns], places }));
}

function predictionsOf(
  predictor: RowPredictor,
  sample: { readonly inputs: Float32Array; readonly labels: Int32Array | Float32Array; readonly label: LabelEncoding },
  decision: Decision | undefined,
): Predictions {
  const { inputs, labels, label } = sample;
  // A copy, because an engine may keep its result's memory.
  const outputs = Float32Array.from(predictor.predict(inputs, labels.length));
  if (label.kind === "value") return { classes: 0, labels, outputs };
  return decided({ classes: label.classes.length, labels, outputs }, label, decision);
}

/** Returns the rows of each class; none of a value. */
export function supportsOf(label: LabelEncoding, labels: ArrayLike<number>): readonly number[] {
  if (label.kind === "value") return [];
  const counts = label.classes.map(() => 0);
  for (let row = 0; row < labels.length; row += 1) counts[labels[row]!]! += 1;
  return counts;
}

/** Computes one metric, because others cost a ranking of each class; `undefined` if these rows have none. */
function metricOf(metric: string, predictions: Predictions): number | undefined {
  const { length } = predictions.labels;
  const rows = Uint32Array.from({ length }, (_, row) => row);
  const estimates = new Float64Array(1);
  metricStatistic(metric, predictions)?.of(rows)(new Uint32Array(length).fill(1), estimates);
  return Number.isFinite(estimates[0]) ? estimates[0] : undefined;
}

/** Returns the numbers below `count` in random order (Fisher and Yates). */
function permutation(count: number, from: number): Uint32Array {
  const draw = uniformDraws(from);
  const order = Uint32Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at -= 1) {
    const other = Math.floor((draw() / 4_294_967_296) * (at + 1));
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}

function summaryOf(drops: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = drops.reduce((sum, one) => sum + one, 0) / drops.length;
  const squares = drops.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (drops.length - 1)) };
}
