/**
 * Sparse rows: each row has `entries` pairs of a position in the dense row and the value there. A one-hot is one pair,
 * and so is a number or a piece of one.
 */
import { CorruptShardError } from "./errors";
import { writePieces } from "./piecewise";
import type { FeatureOutput, FeatureTransform } from "./shapes";

export interface SparseInputs {
  /** Number of pairs of each row. */
  readonly entries: number;
  /** `[rows, entries]`: positions in the dense row. A row's pairs with non-zero values have distinct positions. */
  readonly positions: Int32Array;
  /** `[rows, entries]`; 0 if there is no value, e.g. for an unknown category. */
  readonly values: Float32Array;
}

/**
 * Width at which pairs become cheaper than dense rows. A pair costs about eight times an element of a matrix product.
 */
const elementsAPair = 8;

/**
 * Returns the number of pairs for a row of these features; `undefined` if dense rows are as good. A function of the
 * features alone.
 */
export function sparseEntries({ outputs, width }: FeatureTransform): number | undefined {
  const entries = outputs.reduce((sum, output) => sum + (output.kind === "one-hot" ? 1 : output.width), 0);
  return entries * elementsAPair <= width ? entries : undefined;
}

export function createSparseInputs(entries: number, rows: number): SparseInputs {
  return { entries, positions: new Int32Array(rows * entries), values: new Float32Array(rows * entries) };
}

/** A shard's tensors, and its place in the split. */
export interface ShardRows {
  readonly rows: number;
  readonly numeric: Float32Array;
  readonly numericWidth: number;
  readonly codes: Int32Array;
  readonly codesWidth: number;
  readonly label: Int32Array | Float32Array;
  /** Number of its first row. */
  readonly first: number;
}

/** Writes pairs and labels of those of `rows` that lie in the shard, each to its row's position in `rows`. */
export type SparseGatherer = (
  shard: ShardRows,
  rows: Uint32Array,
  into: SparseInputs,
  labels: Int32Array | Float32Array,
) => void;

/**
 * Builds a gatherer with two passes. Rows lie at random in more memory than the caches hold. The first pass only reads,
 * so that the processor fetches many rows at the same time. This takes half the time.
 *
 * The gatherer throws CorruptShardError on a code past the end of its vocabulary.
 */
export function sparseGatherer({ outputs }: FeatureTransform): SparseGatherer {
  const oneHots = outputs.filter((output) => output.kind === "one-hot");
  const [codeAt, firstOf, sizeOf] = (["source", "offset", "width"] as const).map((field) =>
    Int32Array.from(oneHots, (output) => output[field]),
  ) as [Int32Array, Int32Array, Int32Array];
  const numbers = outputs
    .filter((output) => output.kind === "numeric")
    .flatMap(({ source, offset, width }) => Array.from({ length: width }, (_, i) => [source + i, offset + i] as const));
  const numberAt = Int32Array.from(numbers, ([source]) => source);
  const placeOf = Int32Array.from(numbers, ([, position]) => position);
  const piecewise = outputs.filter((output) => output.kind === "piecewise");
  /** Stores the result, so that no compiler removes the reads. */
  const read = new Float64Array(1);

  return (shard, rows, { entries, positions, values }, labels) => {
    const { numeric, numericWidth, codes, codesWidth, label, first } = shard;
    read[0] = touch(shard, rows);
    for (let i = 0; i < rows.length; i += 1) {
      const row = rows[i]! - first;
      if (row < 0 || row >= shard.rows) continue;
      let pair = i * entries;
      for (let k = 0; k < codeAt.length; k += 1) {
        const code = codes[row * codesWidth + codeAt[k]!]!;
        if (code >= sizeOf[k]!) throw pastTheEnd(oneHots[k]!, code);
        positions[pair] = code < 0 ? firstOf[k]! : firstOf[k]! + code;
        values[pair] = code < 0 ? 0 : 1;
        pair += 1;
      }
      for (let k = 0; k < numberAt.length; k += 1) {
        positions[pair] = placeOf[k]!;
        values[pair] = numeric[row * numericWidth + numberAt[k]!]!;
        pair += 1;
      }
      for (const output of piecewise) {
        for (let k = 0; k < output.width; k += 1) positions[pair + k] = output.offset + k;
        writePieces(numeric[row * numericWidth + output.source]!, output, values, pair);
        pair += output.width;
      }
      labels[i] = label[row]!;
    }
  };
}

/** Reads one number of everything that the second pass reads. */
function touch(
  { rows: count, numeric, numericWidth, codes, codesWidth, label, first }: ShardRows,
  rows: Uint32Array,
): number {
  const [someNumbers, someCodes] = [numericWidth > 0, codesWidth > 0];
  let sum = 0;
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i]! - first;
    if (row < 0 || row >= count) continue;
    sum += label[row]!;
    if (someNumbers) sum += numeric[row * numericWidth]!;
    if (someCodes) sum += codes[row * codesWidth]! + codes[(row + 1) * codesWidth - 1]!;
  }
  return sum;
}

function pastTheEnd({ column, width }: FeatureOutput, code: number): CorruptShardError {
  return new CorruptShardError(`a code of column ${column} is ${code}, but its vocabulary has ${width} values`);
}
