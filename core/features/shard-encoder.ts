import type { ColumnSchema } from "../datasets/shapes";
import { evenCut } from "../datasets/shard-plan";
import { codeLookup } from "./category-codes";
import { encodeFeatureShard, type FeatureRows, shardLayout } from "./encoding";
import { valueTooLarge } from "./errors";
import type { FittedFeatures } from "./fit";
import { plannedRowsEncoder } from "./planned-rows";
import { standardized } from "./transform";
import { type ColumnBatch, categoryAt } from "./values";

/**
 * Encodes one split's rows, in order, into shards whose sizes differ by at most one row. Holds one shard's rows at a
 * time, at most 128 MiB.
 */
export class ShardEncoder {
  private readonly fitted: FittedFeatures;
  private readonly layout: ReturnType<typeof shardLayout>;
  private readonly withSlices: boolean;
  private readonly cuts: readonly number[];
  private readonly writers: readonly RowsEncoder[];
  private rows: FeatureRows | undefined;
  private filled = 0;
  private finished = 0;

  constructor(
    fitted: FittedFeatures,
    schema: readonly ColumnSchema[],
    options: {
      readonly rows: number;
      readonly withSlices: boolean;
      readonly shardBytes?: number | undefined;
      /** Whether the rows are the training rows, whose target encodings leave their own fold out. */
      readonly outOfFold?: boolean;
    },
  ) {
    this.fitted = fitted;
    this.layout = shardLayout(fitted.transform);
    this.withSlices = options.withSlices;
    const { numericWidth, codesWidth } = this.layout;
    const sliceWidth = options.withSlices ? fitted.slices.length : 0;
    const rowBytes = 4 * (numericWidth + codesWidth + 1 + sliceWidth);
    this.cuts = options.rows === 0 ? [] : evenCut(options.rows, rowBytes, options.shardBytes);
    this.writers = encodersOf(fitted, schema, this.layout, options);
  }

  /**
   * Adds rows of a batch, in their order; yields the shards that they complete.
   *
   * @throws VALUE_TOO_LARGE
   */
  *add(batch: ColumnBatch, rows: Uint32Array): Generator<{ readonly bytes: Uint8Array; readonly rows: number }> {
    for (let first = 0; first < rows.length; ) {
      const size = this.cuts[this.finished]!;
      this.rows ??= this.allocate(size);
      const some = rows.subarray(first, first + size - this.filled);
      for (const write of this.writers) write(batch, some, this.rows, this.filled);
      this.checkRange(batch, some);
      this.filled += some.length;
      first += some.length;
      if (this.filled < size) return;
      const bytes = encodeFeatureShard(this.rows, this.layout);
      this.rows = undefined;
      this.filled = 0;
      this.finished += 1;
      yield { bytes, rows: size };
    }
  }

  /** Checks the rows that were added last. */
  private checkRange(batch: ColumnBatch, rows: Uint32Array): void {
    const { numeric, label } = this.rows!;
    const { transform, label: fittedLabel } = this.fitted;
    const { numericWidth } = this.layout;
    const rowOf = (index: number): number => batch.firstRow + rows[index]! + 1;
    const at = infiniteAt(numeric, this.filled * numericWidth, rows.length * numericWidth);
    if (at >= 0) {
      const source = at % numericWidth;
      const output = transform.outputs.find(
        (each) => each.kind === "numeric" && each.source <= source && source < each.source + each.width,
      )!;
      throw valueTooLarge("feature", output.column, rowOf(Math.floor(at / numericWidth)));
    }
    const labelAt = infiniteAt(label, this.filled, rows.length);
    if (labelAt >= 0) throw valueTooLarge("label", fittedLabel.column, rowOf(labelAt));
  }

  private allocate(rows: number): FeatureRows {
    const { numericWidth, codesWidth } = this.layout;
    return {
      rows,
      numeric: new Float32Array(rows * numericWidth),
      codes: new Int32Array(rows * codesWidth),
      label: this.fitted.label.kind === "class" ? new Int32Array(rows) : new Float32Array(rows),
      slices: new Int32Array(this.withSlices ? rows * this.fitted.slices.length : 0),
    };
  }
}

/** Returns the position, from `start` on, of the first value that is not finite; -1 if all are. */
function infiniteAt(values: Float32Array | Int32Array, start: number, length: number): number {
  for (let i = 0; i < length; i += 1) if (!Number.isFinite(values[start + i])) return i;
  return -1;
}

/** Writes rows of a batch, the first one to row `at`. */
type RowsEncoder = (batch: ColumnBatch, rows: Uint32Array, into: FeatureRows, at: number) => void;
type RowEncoder = (batch: ColumnBatch, row: number, into: FeatureRows, at: number) => void;

function eachRow(write: RowEncoder): RowsEncoder {
  return (batch, rows, into, at) => {
    for (let i = 0; i < rows.length; i += 1) write(batch, rows[i]!, into, at + i);
  };
}

function encodersOf(
  { transform, label, slices }: FittedFeatures,
  schema: readonly ColumnSchema[],
  { numericWidth, codesWidth }: ReturnType<typeof shardLayout>,
  { withSlices, outOfFold = false }: { readonly withSlices: boolean; readonly outOfFold?: boolean },
): readonly RowsEncoder[] {
  const typeOf = new Map(schema.map(({ name, type }) => [name, type]));
  const { plan } = transform;
  const planned = plan && plannedRowsEncoder({ ...transform, plan }, outOfFold);
  const encoders: RowEncoder[] = planned
    ? []
    : transform.outputs.flatMap((output): RowEncoder | readonly [] => {
        if (output.kind === "piecewise") return [];
        if (output.kind === "one-hot") {
          const lookup = codeLookup(output);
          const type = typeOf.get(output.column)!;
          return (batch, row, { codes }, at) => {
            codes[at * codesWidth + output.source] = lookup(
              categoryAt(batch.columns[output.column]!, row, type, output.part),
            );
          };
        }
        return (batch, row, { numeric }, at) => {
          const values = batch.columns[output.column]!;
          const to = at * numericWidth + output.source;
          // A missing value stays 0, the mean, because the buffer is new.
          if (values.kind === "string" || values.valid[row] === 0) return;
          for (let i = 0; i < output.width; i += 1) {
            numeric[to + i] = standardized(values.values[row * output.width + i]!, output);
          }
        };
      });
  encoders.push(labelEncoder(label, typeOf.get(label.column)!));
  if (withSlices) {
    for (const [index, slice] of slices.entries()) {
      const codeOf = new Map(slice.values.map((value, code) => [value, code]));
      const type = typeOf.get(slice.column)!;
      encoders.push((batch, row, into, at) => {
        const value = categoryAt(batch.columns[slice.column]!, row, type) ?? null;
        into.slices[at * slices.length + index] = codeOf.get(value)!;
      });
    }
  }
  const byRow = encoders.map(eachRow);
  if (!planned) return byRow;
  const planWriter: RowsEncoder = (batch, rows, { numeric, codes }, at) =>
    planned(batch, rows, { values: numeric, width: numericWidth }, { values: codes, width: codesWidth }, at);
  return [planWriter, ...byRow];
}

function labelEncoder(label: FittedFeatures["label"], type: ColumnSchema["type"]): RowEncoder {
  const lookup = label.kind === "class" ? codeLookup({ vocabulary: label.classes }) : undefined;
  return (batch, row, into, at) => {
    const values = batch.columns[label.column]!;
    if (lookup) into.label[at] = lookup(categoryAt(values, row, type));
    else if (values.kind === "number") into.label[at] = values.values[row]!;
  };
}
