import { type Category, valueLimit } from "../datasets/profile";
import { elementsOf } from "../datasets/rules";
import type { SplitName } from "../datasets/shapes";
import { compareCategories } from "../row-values";
import type { FeatureSettings } from "../runs/feature-settings";
import { tooManyValues } from "./errors";
import type { FeatureColumn, FitColumns } from "./feature-columns";
import { fitPieces, type Piecewise } from "./piecewise";
import { RowSample, type RowSampleState } from "./row-sample";
import { RunningStats, type StatsState } from "./running-stats";
import type { FeatureOutput, FeatureTransform, LabelEncoding, SliceColumn } from "./shapes";
import { type Numeric, standardized } from "./transform";
import { type ColumnBatch, type ColumnValues, categoryAt, vocabularyOf } from "./values";

/** Maximum number of distinct values that are counted, which bounds the memory: about 100 bytes each. */
const countedLimit = 1_000_000;

type OneHotColumn = Extract<FeatureColumn, { readonly kind: "one-hot" }>;
type OneHotCodes = Pick<Extract<FeatureOutput, { readonly kind: "one-hot" }>, "vocabulary" | "other" | "buckets">;

/** Counts a column's values in the training split, and chooses the vocabulary of its one-hot. */
class VocabularyCounter {
  private readonly column: string;
  /** The number of values that are kept, if there is a position for others. */
  private readonly kept: number | undefined;
  /** Whether there is such a position even if all values are kept. */
  private readonly always: boolean;
  private readonly counts = new Map<Category, number>();

  constructor({ column, encoding }: OneHotColumn) {
    this.column = column.name;
    this.always = encoding?.encode === "top-k";
    const byDefault = encoding === undefined && column.type === "string" ? valueLimit : undefined;
    this.kept = encoding?.encode === "top-k" ? encoding.k : byDefault;
  }

  /** @throws TOO_MANY_VALUES */
  add(value: Category, rows = 1): void {
    const count = this.counts.get(value) ?? 0;
    const limit = this.kept === undefined ? valueLimit : countedLimit;
    if (count === 0 && this.counts.size === limit) throw tooManyValues(this.column, "feature", limit);
    this.counts.set(value, count + rows);
  }

  /** Returns the number of rows of each value. */
  state(): readonly (readonly [Category, number])[] {
    return [...this.counts];
  }

  /** Returns the vocabulary in ascending order. Of values that are equally frequent, the lesser are kept. */
  finish(): OneHotCodes {
    const { kept } = this;
    const all = [...this.counts];
    if (kept === undefined || (!this.always && all.length <= kept)) {
      return { vocabulary: all.map(([value]) => value).sort(compareCategories) };
    }
    const frequent = all.sort(([a, m], [b, n]) => n - m || compareCategories(a, b)).slice(0, kept);
    return { vocabulary: frequent.map(([value]) => value).sort(compareCategories), other: true };
  }
}

type NumericColumn = Extract<FeatureColumn, { readonly kind: "numeric" }>;

type FitSettings = Pick<FeatureSettings, "standardize" | "standardizeLabel">;

/** The fit of a part of the rows. States of parts are merged in the order of their rows. */
export interface FitState {
  readonly stats: readonly StatsState[];
  /** Present if numbers have pieces. */
  readonly sample?: RowSampleState;
  /** Present if the label is standardised. */
  readonly label?: StatsState;
  readonly vocabularies: readonly (readonly (readonly [Category, number])[])[];
  readonly classes: readonly Category[];
  readonly sliceValues: readonly (readonly (Category | null)[])[];
}

export interface FittedFeatures {
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly slices: readonly SliceColumn[];
}

/**
 * Fits the transform in one pass over the rows. Means, deviations and vocabularies come from the training split alone,
 * so that no information about held-out rows reaches the model. The label's classes come from all rows, because they
 * define the task. The slices' values come from the test split, because only the test split is divided into slices.
 */
export class FeatureFitter {
  private readonly columns: FitColumns;
  private readonly standardize: boolean;
  private readonly labelStats: RunningStats | undefined;
  private readonly stats: ReadonlyMap<FeatureColumn, RunningStats>;
  /** The columns with pieces, and a sample of their numbers. */
  private readonly pieced: readonly NumericColumn[];
  private readonly sample = new RowSample();
  private readonly vocabularies: ReadonlyMap<OneHotColumn, VocabularyCounter>;
  private readonly classes = new Set<Category>();
  private readonly sliceValues: readonly Set<Category | null>[];

  constructor(columns: FitColumns, { standardize, standardizeLabel = false }: FitSettings) {
    this.columns = columns;
    this.standardize = standardize;
    this.labelStats = standardizeLabel && columns.label.kind === "value" ? new RunningStats() : undefined;
    this.stats = new Map(
      columns.features.filter(({ kind }) => kind === "numeric").map((each) => [each, new RunningStats()]),
    );
    this.pieced = columns.features
      .filter((each) => each.kind === "numeric")
      .filter(({ pieces }) => pieces !== undefined);
    this.vocabularies = new Map(
      columns.features
        .filter((each) => each.kind === "one-hot")
        .filter(({ part, encoding }) => part === undefined && encoding?.encode !== "hash")
        .map((each) => [each, new VocabularyCounter(each)]),
    );
    this.sliceValues = columns.slices.map(() => new Set());
  }

  /** @throws TOO_MANY_VALUES */
  add(batch: ColumnBatch, splitOfRow: (row: number) => SplitName): void {
    const { label, slices } = this.columns;
    const labels = batch.columns[label.column.name]!;
    for (let row = 0; row < batch.rows; row += 1) {
      const split = splitOfRow(batch.firstRow + row);
      if (label.kind === "class") {
        const value = categoryAt(labels, row, label.column.type);
        if (value !== undefined) insert(this.classes, value, label.column.name, "label");
      }
      if (split === "train") this.addTraining(batch, row);
      else if (split === "test") {
        for (const [index, column] of slices.entries()) {
          const value = categoryAt(batch.columns[column.name]!, row, column.type) ?? null;
          insert(this.sliceValues[index]!, value, column.name, "slice");
        }
      }
    }
  }

  private addTraining(batch: ColumnBatch, row: number): void {
    const label = this.labelStats && numberAt(batch.columns[this.columns.label.column.name]!, row);
    if (typeof label === "number") this.labelStats?.add(label);
    for (const [{ column }, stats] of this.stats) {
      const values = batch.columns[column.name]!;
      if (values.kind === "number") {
        if (values.valid[row] === 1) stats.add(values.values[row]!);
      } else if (values.kind === "tensor" && values.valid[row] === 1) {
        stats.addAll(values.values, row * values.width, values.width);
      }
    }
    if (this.pieced.length > 0) {
      this.sample.add(batch.firstRow + row, () =>
        this.pieced.map(({ column }) => numberAt(batch.columns[column.name]!, row)),
      );
    }
    for (const [{ column }, vocabulary] of this.vocabularies) {
      const value = categoryAt(batch.columns[column.name]!, row, column.type);
      if (value !== undefined) vocabulary.add(value);
    }
  }

  /** Returns what the rows so far have given, as JSON. */
  state(): FitState {
    return {
      stats: [...this.stats.values()].map((stats) => stats.state()),
      ...(this.pieced.length > 0 ? { sample: this.sample.state() } : {}),
      ...(this.labelStats ? { label: this.labelStats.state() } : {}),
      vocabularies: [...this.vocabularies.values()].map((vocabulary) => vocabulary.state()),
      classes: [...this.classes],
      sliceValues: this.sliceValues.map((values) => [...values]),
    };
  }

  /** Adds the rows of the next part. @throws TOO_MANY_VALUES */
  merge({ stats, sample, label, vocabularies, classes, sliceValues }: FitState): void {
    for (const [index, columnStats] of [...this.stats.values()].entries()) columnStats.merge(stats[index]!);
    if (sample) this.sample.merge(sample);
    if (label) this.labelStats?.merge(label);
    for (const [index, counter] of [...this.vocabularies.values()].entries()) {
      for (const [value, rows] of vocabularies[index]!) counter.add(value, rows);
    }
    for (const value of classes) insert(this.classes, value, this.columns.label.column.name, "label");
    for (const [index, { name }] of this.columns.slices.entries()) {
      for (const value of sliceValues[index]!) insert(this.sliceValues[index]!, value, name, "slice");
    }
  }

  finish(): FittedFeatures {
    const outputs: FeatureOutput[] = [];
    let offset = 0;
    let numericSource = 0;
    let codeSource = 0;
    for (const each of this.columns.features) {
      const { name } = each.column;
      if (each.kind === "numeric") {
        const width = elementsOf(each.column);
        const { mean, deviation } = this.standardize ? this.stats.get(each)! : { mean: 0, deviation: 1 };
        outputs.push({ kind: "numeric", column: name, offset, width, source: numericSource, mean, deviation });
        numericSource += width;
        offset += width;
      } else {
        const { part } = each;
        const codes = this.codesOf(each);
        const width = codes.buckets ?? codes.vocabulary.length + (codes.other ? 1 : 0);
        const where = { offset, width, source: codeSource };
        outputs.push({ kind: "one-hot", column: name, ...(part ? { part } : {}), ...where, ...codes });
        codeSource += 1;
        offset += width;
      }
    }
    for (const output of this.pieces(outputs)) {
      outputs.push({ ...output, offset });
      offset += output.width;
    }
    const [only, ...others] = this.columns.features;
    const shape = only?.column.shape !== undefined && others.length === 0 ? only.column.shape : [offset];
    const { label, slices } = this.columns;
    return {
      transform: { outputs, width: offset, shape },
      label:
        label.kind === "value"
          ? { kind: "value", column: label.column.name, ...this.labelScale() }
          : { kind: "class", column: label.column.name, classes: [...this.classes].sort(compareCategories) },
      slices: slices.map(({ name }, index) => ({
        column: name,
        values: [...this.sliceValues[index]!].sort(compareCategories),
      })),
    };
  }

  /** Fits the pieces of numbers. They follow all other outputs, so that numbers are adjacent. */
  private pieces(outputs: readonly FeatureOutput[]): readonly Omit<Piecewise, "offset">[] {
    return this.pieced.flatMap((numeric, index) => {
      const output = outputs.find(
        ({ kind, column }) => kind === "numeric" && column === numeric.column.name,
      ) as Numeric;
      const { column, source, mean, deviation } = output;
      const numbers = this.sample.sorted(index).map((number) => Math.fround(standardized(number, output)));
      const fitted = fitPieces(numbers, this.stats.get(numeric)!.count, numeric.pieces!);
      if (fitted === undefined) return [];
      return [{ kind: "piecewise", column, width: fitted.means.length, source, mean, deviation, ...fitted }];
    });
  }

  private labelScale(): { readonly mean?: number; readonly deviation?: number } {
    if (!this.labelStats) return {};
    const { mean, deviation } = this.labelStats;
    return { mean, deviation };
  }

  private codesOf(oneHot: OneHotColumn): OneHotCodes {
    if (oneHot.part) return { vocabulary: vocabularyOf(oneHot.part) };
    if (oneHot.encoding?.encode === "hash") return { vocabulary: [], buckets: oneHot.encoding.buckets };
    return this.vocabularies.get(oneHot)!.finish();
  }
}

/** Returns the row's number; `null` if it is missing or infinite. */
function numberAt(values: ColumnValues, row: number): number | null {
  const number = values.kind === "number" && values.valid[row] === 1 ? values.values[row]! : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

function insert<Value extends Category | null>(
  into: Set<Value>,
  value: Value,
  column: string,
  use: "label" | "slice",
): void {
  if (into.has(value)) return;
  if (into.size === valueLimit) throw tooManyValues(column, use, valueLimit);
  into.add(value);
}
