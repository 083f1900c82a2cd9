import type { ModelSpec } from "../runs/job";
import type { Task } from "../runs/model-definition";
import { decodeSafetensors, encodeSafetensors, SafetensorsError, type SafetensorsTensor } from "../safetensors";
import { CorruptShardError } from "./errors";
import { writePieces } from "./piecewise";
import type { FeatureManifest, FeatureTransform } from "./shapes";
import { type SparseInputs, sparseGatherer } from "./sparse";

/**
 * The encoding of a feature shard. One-hots are stored as codes and are expanded into dense rows one at a time, into
 * the caller's buffer. A one-hot with a vocabulary of a thousand words takes four bytes for each row.
 */

/** Row-major tensors of one shard; the widths follow from `shardLayout`. */
export interface FeatureRows {
  readonly rows: number;
  readonly numeric: Float32Array;
  /** `[rows, codesWidth]`; -1 means unknown or missing. */
  readonly codes: Int32Array;
  /** `[rows]`: class indexes (int32) or values (float32). */
  readonly label: Int32Array | Float32Array;
  /** `[rows, slices]`; empty except in the test split. */
  readonly slices: Int32Array;
}

/** A shard, decoded without a copy. */
export interface DecodedShard extends FeatureRows {
  /** Number of elements of a dense row. */
  readonly width: number;
  /** Writes every element of row `row` to `into[offset … offset + width)`. */
  writeRow(row: number, into: Float32Array, offset: number): void;
  /** Writes row `row` to a range that already holds zeros; skips the zeros of one-hots. */
  writeOnZeros(row: number, into: Float32Array, offset: number): void;
  /**
   * Writes those of `rows` that lie in this shard as pairs, with their labels, each to its row's position in `rows`.
   *
   * @param first number of the shard's first row
   * @throws CorruptShardError
   */
  gatherSparse(rows: Uint32Array, first: number, into: SparseInputs, labels: FeatureRows["label"]): void;
  labelAt(row: number): number;
  sliceAt(row: number, slice: number): number;
}

/** Returns the columns of the shard's `numeric` and `codes` tensors. */
export function shardLayout(transform: FeatureTransform): {
  readonly numericWidth: number;
  readonly codesWidth: number;
} {
  let numericWidth = 0;
  let codesWidth = 0;
  for (const output of transform.outputs) {
    if (output.kind === "numeric") numericWidth = Math.max(numericWidth, output.source + output.width);
    else if (output.kind === "one-hot") codesWidth = Math.max(codesWidth, output.source + 1);
  }
  return { numericWidth, codesWidth };
}

/** Encodes prepared rows as a safetensors file: `label`; `numeric`, `codes` and `slices` if there are such columns. */
export function encodeFeatureShard(rows: FeatureRows, layout: ReturnType<typeof shardLayout>): Uint8Array {
  const tensors: Record<string, SafetensorsTensor> = {
    label: { dtype: rows.label instanceof Int32Array ? "I32" : "F32", shape: [rows.rows], data: rows.label },
  };
  if (layout.numericWidth > 0) {
    tensors.numeric = { dtype: "F32", shape: [rows.rows, layout.numericWidth], data: rows.numeric };
  }
  if (layout.codesWidth > 0) {
    tensors.codes = { dtype: "I32", shape: [rows.rows, layout.codesWidth], data: rows.codes };
  }
  if (rows.slices.length > 0) {
    tensors.slices = { dtype: "I32", shape: [rows.rows, rows.slices.length / rows.rows], data: rows.slices };
  }
  return encodeSafetensors({ tensors });
}

/** @throws CorruptShardError if the bytes do not fit the transform and the label encoding */
export function decodeFeatureShard(
  bytes: Uint8Array,
  manifest: Pick<FeatureManifest, "transform" | "label">,
): DecodedShard {
  const { numericWidth, codesWidth } = shardLayout(manifest.transform);
  const tensors = tensorsOf(bytes);
  const rows = tensors.label?.data.length ?? 0;
  const label = integersOrReals(tensors, "label", manifest.label.kind === "class" ? "I32" : "F32", rows, 1);
  const numeric = integersOrReals(tensors, "numeric", "F32", rows, numericWidth) as Float32Array;
  const codes = integersOrReals(tensors, "codes", "I32", rows, codesWidth) as Int32Array;
  const sliceWidth = tensors.slices === undefined ? 0 : tensors.slices.data.length / rows;
  const slices = integersOrReals(tensors, "slices", "I32", rows, sliceWidth) as Int32Array;
  const { width } = manifest.transform;
  const writeDense = rowWriter(manifest.transform);
  const gatherSparse = sparseGatherer(manifest.transform);
  return {
    rows,
    width,
    numeric,
    codes,
    label,
    slices,
    writeRow: (row, into, offset) => {
      if (codesWidth > 0) into.fill(0, offset, offset + width);
      writeDense(numeric, row * numericWidth, codes, row * codesWidth, into, offset);
    },
    writeOnZeros: (row, into, offset) => writeDense(numeric, row * numericWidth, codes, row * codesWidth, into, offset),
    gatherSparse: (wanted, first, into, labels) =>
      gatherSparse({ rows, numeric, numericWidth, codes, codesWidth, label, first }, wanted, into, labels),
    labelAt: (row) => label[row]!,
    sliceAt: (row, slice) => slices[row * sliceWidth + slice]!,
  };
}

/** Writes the dense form of one row, whose values start at `numericAt` and `codesAt`, over zeros. */
type RowWriter = (
  numeric: Float32Array,
  numericAt: number,
  codes: Int32Array,
  codesAt: number,
  into: Float32Array,
  offset: number,
) => void;

function rowWriter(transform: FeatureTransform): RowWriter {
  const oneHots = transform.outputs.filter((output) => output.kind === "one-hot");
  const piecewise = transform.outputs.filter((output) => output.kind === "piecewise");
  const runs = mergeRuns(transform);
  return (numeric, numericAt, codes, codesAt, into, offset) => {
    for (const run of runs) {
      const from = numericAt + run.source;
      const to = offset + run.offset;
      if (run.width >= 32) into.set(numeric.subarray(from, from + run.width), to);
      else for (let i = 0; i < run.width; i += 1) into[to + i] = numeric[from + i]!;
    }
    for (const output of piecewise) {
      writePieces(numeric[numericAt + output.source]!, output, into, offset + output.offset);
    }
    for (const output of oneHots) {
      const code = codes[codesAt + output.source]!;
      if (code >= 0) into[offset + output.offset + code] = 1;
    }
  };
}

/** Merges numeric outputs with adjacent sources and adjacent places into one copy. */
function mergeRuns(transform: FeatureTransform): readonly { source: number; offset: number; width: number }[] {
  const runs: { source: number; offset: number; width: number }[] = [];
  for (const output of transform.outputs) {
    if (output.kind !== "numeric") continue;
    const last = runs.at(-1);
    if (last && last.source + last.width === output.source && last.offset + last.width === output.offset) {
      last.width += output.width;
    } else {
      runs.push({ source: output.source, offset: output.offset, width: output.width });
    }
  }
  return runs;
}

function tensorsOf(bytes: Uint8Array): Readonly<Partial<Record<string, SafetensorsTensor>>> {
  try {
    return decodeSafetensors(bytes).tensors;
  } catch (error) {
    if (error instanceof SafetensorsError) throw new CorruptShardError(error.message, error);
    throw error;
  }
}

/** Returns the tensor's elements; none if it was omitted because it has a zero dimension. */
function integersOrReals(
  tensors: Readonly<Partial<Record<string, SafetensorsTensor>>>,
  name: string,
  dtype: "F32" | "I32",
  rows: number,
  width: number,
): Float32Array | Int32Array {
  const tensor = tensors[name];
  if (tensor === undefined && rows * width === 0 && name !== "label") {
    return dtype === "F32" ? new Float32Array(0) : new Int32Array(0);
  }
  if (tensor === undefined || tensor.dtype !== dtype || tensor.data.length !== rows * width) {
    const layout = tensor === undefined ? "none" : `${tensor.dtype} [${tensor.shape}]`;
    throw new CorruptShardError(`it must have tensor "${name}" ${dtype} [${rows},${width}], but has ${layout}`);
  }
  return tensor.data as Float32Array | Int32Array;
}

/**
 * The task that a label defines: two classes are a binary task with one logit a row, more are a classification with one logit a
 * class, values are a regression.
 */
export function taskOf(label: FeatureManifest["label"]): { readonly task: Task; readonly outputs: number } {
  if (label.kind === "value") return { task: "regression", outputs: 1 };
  if (label.classes.length === 2) return { task: "binary", outputs: 1 };
  return { task: "classification", outputs: label.classes.length };
}

export function modelShapeOf({ transform, label }: Pick<FeatureManifest, "transform" | "label">) {
  const { mean, deviation } = label.kind === "value" ? label : {};
  const scale = mean === undefined || deviation === undefined ? {} : { label: { mean, deviation } };
  return { inputShape: transform.shape, ...taskOf(label), ...scale };
}

export function builtInDefinition(
  spec: Exclude<ModelSpec, { type: "module" | "container" }>,
  features: Pick<FeatureManifest, "transform" | "label">,
) {
  return { ...spec, ...modelShapeOf(features) };
}
