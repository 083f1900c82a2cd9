import type { SplitName } from "../../core/datasets/shapes";
import { type DecodedShard, decodeFeatureShard } from "../../core/features/encoding";
import type { FeatureManifest } from "../../core/features/shapes";
import type { SparseInputs } from "../../core/features/sparse";
import type { ShardCache } from "./shard-cache";

/** One split in memory, compactly encoded (four bytes a one-hot column). Only the caller has dense rows. */
export interface FeatureSplit {
  readonly rows: number;
  readonly width: number;
  /** Writes the dense form of `rows[i]` to `inputs[i × width …]` and its label to `labels[i]`. */
  gather(rows: Uint32Array, inputs: Float32Array, labels: Int32Array | Float32Array): void;
  /** Writes the same rows as pairs. @throws CorruptShardError */
  gatherSparse(rows: Uint32Array, inputs: SparseInputs, labels: Int32Array | Float32Array): void;
  /** Allocates labels in the features' form: class indexes, or values. */
  createLabels(rows: number): Int32Array | Float32Array;
}

/** Loads a split into memory. @throws CorruptObjectError, CorruptShardError */
export async function loadFeatureSplit(
  manifest: FeatureManifest,
  split: SplitName,
  cache: ShardCache,
): Promise<FeatureSplit> {
  const shards: DecodedShard[] = [];
  for (const shard of manifest.splits[split].shards) {
    shards.push(decodeFeatureShard(await cache.load(shard), manifest));
  }
  return splitOf(shards, manifest);
}

/** Rows are numbered through the shards in their order. */
export function splitOf(
  shards: readonly DecodedShard[],
  { transform: { width }, label }: Pick<FeatureManifest, "transform" | "label">,
): FeatureSplit {
  const starts = new Float64Array(shards.length + 1);
  shards.forEach((shard, index) => {
    starts[index + 1] = starts[index]! + shard.rows;
  });
  const rowCount = starts[shards.length]!;

  const shardOf = (row: number): number => {
    let low = 0;
    let high = shards.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (starts[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  const check = (row: number) => {
    if (row >= rowCount) throw new RangeError(`row ${row} was requested, but the split has ${rowCount} rows`);
  };

  return {
    rows: rowCount,
    width,
    gather(rows, inputs, labels) {
      if (shards[0]?.codes.length) inputs.fill(0, 0, rows.length * width); // rows of one-hots are mostly zeros
      for (let i = 0; i < rows.length; i += 1) {
        const row = rows[i]!;
        check(row);
        const index = shardOf(row);
        const local = row - starts[index]!;
        shards[index]!.writeOnZeros(local, inputs, i * width);
        labels[i] = shards[index]!.labelAt(local);
      }
    },
    gatherSparse(rows, inputs, labels) {
      for (let i = 0; i < rows.length; i += 1) check(rows[i]!);
      for (let index = 0; index < shards.length; index += 1) {
        shards[index]!.gatherSparse(rows, starts[index]!, inputs, labels);
      }
    },
    createLabels: (rows) => (label.kind === "class" ? new Int32Array(rows) : new Float32Array(rows)),
  };
}
