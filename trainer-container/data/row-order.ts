import { keyedPermutation, type Permutation } from "./permutation";

/** Each epoch's order of a split's rows, with random access: a function of (seed, epoch, position) alone. */
export interface RowOrder {
  /** The row, numbered within the split, at a place of an epoch. */
  at(epoch: number, position: number): number;
  /** The rows at `position` and after, `into.length` of them; all within the epoch. */
  range(epoch: number, position: number, into: Uint32Array): void;
}

/** Shards in memory at a time beside the next ones: at 128 MiB a shard, half a GiB in all. */
const shardsAWindow = 2;
/** Compact bytes up to which a split is held whole and shuffled whole. */
const fullShuffleBytes = 512 * 1024 * 1024;

/**
 * Rows of each shard where the split is too large to be shuffled whole; undefined where it is not. A function of the data alone, not of the
 * worker's memory: the order is a part of what decides the weights.
 */
export function windowedShards(
  shards: readonly { readonly rows: number; readonly bytes: number }[],
  limitBytes: number = fullShuffleBytes,
): readonly number[] | undefined {
  const bytes = shards.reduce((sum, shard) => sum + shard.bytes, 0);
  return bytes > limitBytes && shards.length > shardsAWindow ? shards.map(({ rows }) => rows) : undefined;
}

/** Every order of all rows is possible. */
export function fullOrder(seed: number, rows: number): RowOrder {
  let order: { readonly epoch: number; readonly permutation: Permutation } | undefined;
  const orderOf = (epoch: number): Permutation => {
    if (order?.epoch !== epoch) order = { epoch, permutation: keyedPermutation(rows, `seed ${seed} epoch ${epoch}`) };
    return order.permutation;
  };
  return {
    at: (epoch, position) => orderOf(epoch).at(position),
    range: (epoch, position, into) => orderOf(epoch).range(position, into),
  };
}

/** A place in an epoch's sequence of windows. */
export interface Window {
  readonly epoch: number;
  readonly index: number;
}

export interface WindowedOrder extends RowOrder {
  windowAt(epoch: number, position: number): Window;
  next(window: Window): Window;
  shardsOf(window: Window): readonly number[];
}

interface Epoch {
  readonly number: number;
  readonly windows: readonly {
    readonly shards: readonly number[];
    /** Place in the epoch at which the window begins. */
    readonly start: number;
    readonly permutation: Permutation;
  }[];
}

/**
 * For splits larger than memory: an epoch takes the shards in a pseudo-random order, `shardsAWindow` at a time, and shuffles all rows
 * of a window. Rows meet those of another shard anew each epoch, and each shard is read once an epoch, in one piece.
 */
export function windowedOrder(seed: number, shardRows: readonly number[]): WindowedOrder {
  const starts: number[] = [];
  let rows = 0;
  for (const count of shardRows) {
    starts.push(rows);
    rows += count;
  }
  const windowCount = Math.ceil(shardRows.length / shardsAWindow);
  /** The last two: the one under way, and the next, whose first window is looked up ahead. */
  const known: Epoch[] = [];

  const epochOf = (number: number): Epoch => {
    let epoch = known.find((each) => each.number === number);
    if (epoch === undefined) {
      epoch = layOut(number);
      known.push(epoch);
      if (known.length > 2) known.shift();
    }
    return epoch;
  };

  const layOut = (number: number): Epoch => {
    const order = keyedPermutation(shardRows.length, `seed ${seed} epoch ${number} shards`);
    let start = 0;
    const windows = Array.from({ length: windowCount }, (_, index) => {
      const first = index * shardsAWindow;
      const length = Math.min(shardsAWindow, shardRows.length - first);
      const shards = Array.from({ length }, (_, i) => order.at(first + i));
      const size = shards.reduce((sum, shard) => sum + shardRows[shard]!, 0);
      const permutation = keyedPermutation(size, `seed ${seed} epoch ${number} window ${index}`);
      const window = { shards, start, permutation };
      start += size;
      return window;
    });
    return { number, windows };
  };

  const windowAt = (epoch: number, position: number): Window => {
    const { windows } = epochOf(epoch);
    const index = windows.findLastIndex(({ start }) => start <= position);
    return { epoch, index };
  };

  const order: WindowedOrder = {
    windowAt,
    range(epoch, position, into) {
      for (let i = 0; i < into.length; i += 1) into[i] = order.at(epoch, position + i);
    },
    at(epoch, position) {
      if (position >= rows) throw new RangeError(`position ${position} of an epoch of ${rows} rows is asked for`);
      const { shards, start, permutation } = epochOf(epoch).windows[windowAt(epoch, position).index]!;
      let within = permutation.at(position - start);
      let place = 0;
      while (within >= shardRows[shards[place]!]!) {
        within -= shardRows[shards[place]!]!;
        place += 1;
      }
      return starts[shards[place]!]! + within;
    },
    next: ({ epoch, index }) =>
      index + 1 < windowCount ? { epoch, index: index + 1 } : { epoch: epoch + 1, index: 0 },
    shardsOf: ({ epoch, index }) => epochOf(epoch).windows[index]!.shards,
  };
  return order;
}
