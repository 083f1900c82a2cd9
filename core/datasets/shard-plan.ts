import type { DatasetManifest } from "./shapes";

/** Maximum size of a shard: large enough to stream well from S3, small enough to fetch again. */
export const maximumShardBytes = 128 * 1024 * 1024;
/** Largest allowed excess of the largest shard over the smallest. */
const tolerance = 0.05;
/** Cuts fall on a grid with so many steps in a shard. */
const gridSteps = 128;

interface Piece {
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Returns where to cut `pieces` (already written, in row order) again, as row counts; `undefined` if they are
 * acceptable: each within the limit, and the largest within 5 % of the smallest.
 *
 * Bytes per row are assumed to be constant within a piece, so that a cut falls where the running total of bytes crosses
 * an equal share. Compression differs a little after rewriting, so callers repeat this until the result is `undefined`.
 */
export function recut(pieces: readonly Piece[], limit = maximumShardBytes): readonly number[] | undefined {
  const sizes = pieces.map(({ bytes }) => bytes);
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const largest = Math.max(...sizes);
  if (largest <= limit && largest <= Math.min(...sizes) * (1 + tolerance)) {
    const fewest = Math.ceil(total / (limit * (1 - tolerance)));
    if (pieces.length <= fewest) return undefined;
  }
  const count = Math.max(1, Math.ceil(total / (limit * (1 - tolerance))));
  const step = gridOf(pieces.reduce((sum, { rows }) => sum + rows, 0) / count);
  const cuts: number[] = [];
  let rowsBefore = 0;
  let bytesBefore = 0;
  for (const { rows, bytes } of pieces) {
    for (let next = (total * (cuts.length + 1)) / count; cuts.length < count - 1 && next <= bytesBefore + bytes; ) {
      cuts.push(Math.round((rowsBefore + (rows * (next - bytesBefore)) / bytes) / step) * step);
      next = (total * (cuts.length + 1)) / count;
    }
    rowsBefore += rows;
    bytesBefore += bytes;
  }
  const ends = [...cuts, rowsBefore];
  return ends.map((end, index) => end - (ends[index - 1] ?? 0));
}

function gridOf(rows: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(rows / gridSteps)));
}

/**
 * Cuts `rows` into as few pieces as possible, each of at most `limit` bytes at `bytesPerRow`. Sizes differ by at most
 * one row.
 */
export function evenCut(rows: number, bytesPerRow: number, limit = maximumShardBytes): readonly number[] {
  const count = Math.max(1, Math.ceil(rows / Math.max(1, Math.floor(limit / bytesPerRow))));
  return Array.from({ length: count }, (_, i) => Math.floor((rows * (i + 1)) / count) - Math.floor((rows * i) / count));
}

/**
 * Shards that one invocation of a function reads: about a GiB, so that it ends in a few minutes and fits its disk. A
 * version of at most so many bytes is one group, and is processed without child executions.
 */
export const groupBytes = 1024 * 1024 * 1024;

export interface ShardGroup {
  readonly index: number;
  /** Number of its first row in the version, from 0. */
  readonly firstRow: number;
  readonly rows: number;
  readonly bytes: number;
  readonly shards: DatasetManifest["shards"];
}

/**
 * Cuts a version's shards into groups of about equal size. It is a function of the version alone, because fits merge the
 * groups' states in order, and the order affects the last bits.
 */
export function shardGroups(
  { shards }: Pick<DatasetManifest, "shards">,
  limit: number = groupBytes,
): readonly ShardGroup[] {
  const total = shards.reduce((sum, { bytes }) => sum + bytes, 0);
  const count = Math.max(1, Math.ceil(total / limit));
  const groups: DatasetManifest["shards"][number][][] = [];
  let before = 0;
  let current = -1;
  for (const shard of shards) {
    // A shard belongs to the group in which its middle lies.
    const place = Math.min(count - 1, Math.floor(((before + shard.bytes / 2) * count) / Math.max(1, total)));
    if (place !== current) groups.push([]);
    current = place;
    groups.at(-1)!.push(shard);
    before += shard.bytes;
  }
  let firstRow = 0;
  return groups.map((shards, index) => {
    const rows = shards.reduce((sum, shard) => sum + shard.rows, 0);
    const group = { index, firstRow, rows, bytes: shards.reduce((sum, { bytes }) => sum + bytes, 0), shards };
    firstRow += rows;
    return group;
  });
}
