import { keyedPermutation, type Permutation } from "./permutation";

/** Each epoch's order of a split's rows, with random access. It is a function of (seed, epoch, position) only. */
export interface RowOrder {
  /** Returns the row, numbered within the split, at a position of an epoch. */
  at(epoch: number, position: number): number;
  /** Writes the `into.length` rows from `position` on; all must be within the epoch. */
  range(epoch: number, position: number, into: Uint32Array): void;
}

/** Shards in memory at a time, in addition to the next ones: at 128 MiB per shard, half a GiB in all. */
const shardsAWindow = 2;
/** Compact size up to which a split is held and shuffled completely. */
const fullShuffleBytes = 512 * 1024 * 1024;

/**
 * Returns the rows of each shard if the split is too large to be shuffled completely, otherwise undefined. It is a function
 * of the data, not of the worker's memory, because the order affects the weights.
 */
export function windowedShards(
  shards: readonly { readonly rows: number; readonly bytes: number }[],
  limitBytes: number = fullShuffleBytes,
): readonly number[] | undefined {
  const bytes = shards.reduce((sum, shard) => sum + shard.bytes, 0);
  return bytes > limitBytes && shards.length > shardsAWindow ? shards.map(({ rows }) => rows) : undefined;
}

/** Shuffles all rows: every order is possible. */
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

/** A window of an epoch and its position. */
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
    /** Position in the epoch at which the window begins. */
    readonly start: number;
    readonly permutation: Permutation;
  }[];
}

/**
 * Shuffles splits larger than memory. An epoch takes the shards in a pseudo-random order, `shardsAWindow` at a time, and
 * shuffles all rows of a window. Each epoch combines other shards, and each shard is read once per epoch.
 */
export function windowedOrder(seed: number, shardRows: readonly number[]): WindowedOrder {
  const starts: number[] = [];
  let rows = 0;
  for (const count of shardRows) {
    starts.push(rows);
    rows += count;
  }
  const windowCount = Math.ceil(shardRows.length / shardsAWindow);
  /** The last two epochs: the current one, and the next, whose first window is looked up in advance. */
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
      if (position >= rows) throw new RangeError(`position ${position} of an epoch of ${rows} rows was requested`);
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
