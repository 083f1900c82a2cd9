import type { DatasetManifest } from "./shapes";

/**
 * Shards that one invocation of a function reads: about a GiB, so that it ends in a few minutes and fits its disk. A
 * version of at most so many bytes is one group, and is processed without child executions.
 */
export const groupBytes = 1024 * 1024 * 1024;

/** Consecutive shards of a version. */
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
  return groups.map((own, index) => {
    const rows = own.reduce((sum, shard) => sum + shard.rows, 0);
    const group = { index, firstRow, rows, bytes: own.reduce((sum, { bytes }) => sum + bytes, 0), shards: own };
    firstRow += rows;
    return group;
  });
}
