/**
 * The order in which an epoch takes rows: a permutation with random access, by blocks of shards that fit into memory.
 */
import { createHash } from "node:crypto";

interface Permutation {
  readonly size: number;
  at(index: number): number;
  /** Computes `into[i] = at(first + i)` in a third of the time per element: the rounds of four elements overlap. */
  range(first: number, into: Uint32Array): void;
}

/** Even. Luby and Rackoff need four rounds of ideal functions. These are not ideal, and small domains mix slowly. */
const rounds = 10;

/**
 * A pseudo-random permutation, computed element by element. A Feistel network permutes `[0, 2^bits)`; values outside
 * `[0, size)` are permuted again (cycle walking: Black and Rogaway, 2002), under two passes on average.
 * @param size at most 2³²
 */
export function keyedPermutation(size: number, key: string): Permutation {
  if (!Number.isInteger(size) || size < 1 || size > 2 ** 32) {
    throw new RangeError(`a permutation's size is ${size}, but must be a whole number from 1 to 2^32`);
  }
  if (size === 1) return { size, at: () => 0, range: (_first, into) => void into.fill(0) };

  const bits = Math.max(2, Math.ceil(Math.log2(size)));
  const lowBits = bits >>> 1;
  const lowMask = (1 << lowBits) - 1;
  const highMask = (1 << (bits - lowBits)) - 1;
  const lowSize = 2 ** lowBits;
  const roundKeys = roundKeysOf(key);

  const pass = (value: number): number => {
    // `>>> lowBits` uses the value's 32 bits, which hold everything below 2³².
    let high = value >>> lowBits;
    let low = value & lowMask;
    for (let round = 0; round < rounds; round += 2) {
      high = (high ^ mix(low, roundKeys[round]!)) & highMask;
      low = (low ^ mix(high, roundKeys[round + 1]!)) & lowMask;
    }
    return high * lowSize + low;
  };

  const at = (index: number): number => {
    let value = pass(index);
    while (value >= size) value = pass(value);
    return value;
  };

  /** Makes one pass over `into[i … i + 3]`. The rounds of one element are sequential; those of four elements overlap. */
  const passFour = (into: Uint32Array, i: number): void => {
    const [a, b, c, d] = [into[i]!, into[i + 1]!, into[i + 2]!, into[i + 3]!];
    let [highA, highB, highC, highD] = [a >>> lowBits, b >>> lowBits, c >>> lowBits, d >>> lowBits];
    let [lowA, lowB, lowC, lowD] = [a & lowMask, b & lowMask, c & lowMask, d & lowMask];
    for (let round = 0; round < rounds; round += 2) {
      const even = roundKeys[round]!;
      highA = (highA ^ mix(lowA, even)) & highMask;
      highB = (highB ^ mix(lowB, even)) & highMask;
      highC = (highC ^ mix(lowC, even)) & highMask;
      highD = (highD ^ mix(lowD, even)) & highMask;
      const odd = roundKeys[round + 1]!;
      lowA = (lowA ^ mix(highA, odd)) & lowMask;
      lowB = (lowB ^ mix(highB, odd)) & lowMask;
      lowC = (lowC ^ mix(highC, odd)) & lowMask;
      lowD = (lowD ^ mix(highD, odd)) & lowMask;
    }
    into[i] = (highA << lowBits) | lowA;
    into[i + 1] = (highB << lowBits) | lowB;
    into[i + 2] = (highC << lowBits) | lowC;
    into[i + 3] = (highD << lowBits) | lowD;
  };

  const passAll = (values: Uint32Array, count: number): void => {
    const fours = count - (count % 4);
    for (let i = 0; i < fours; i += 4) passFour(values, i);
    for (let i = fours; i < count; i += 1) values[i] = pass(values[i]!);
  };
  let places = new Uint32Array(0);
  let walking = new Uint32Array(0);

  return {
    size,
    at,
    range(first, into) {
      for (let i = 0; i < into.length; i += 1) into[i] = first + i;
      passAll(into, into.length);
      // Values outside the range walk on, four at a time; each pass has fewer of them.
      if (places.length < into.length) {
        places = new Uint32Array(into.length);
        walking = new Uint32Array(into.length);
      }
      let count = 0;
      for (let i = 0; i < into.length; i += 1) if (into[i]! >= size) places[count++] = i;
      while (count > 0) {
        for (let i = 0; i < count; i += 1) walking[i] = into[places[i]!]!;
        passAll(walking, count);
        let left = 0;
        for (let i = 0; i < count; i += 1) {
          into[places[i]!] = walking[i]!;
          if (walking[i]! >= size) places[left++] = places[i]!;
        }
        count = left;
      }
    },
  };
}

/** Computes MurmurHash3's 32-bit finaliser over the half and the round's key. */
function mix(half: number, roundKey: number): number {
  let h = Math.imul(half ^ roundKey, 0x9e3779b1);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h + roundKey, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function roundKeysOf(key: string): Int32Array {
  const keys = new Int32Array(rounds);
  const digest = createHash("sha512").update(key).digest();
  for (let round = 0; round < rounds; round += 1) keys[round] = digest.readInt32LE(round * 4);
  return keys;
}

/** Each epoch's order of a split's rows, with random access. It is a function of (seed, epoch, position) only. */
interface RowOrder {
  /** Returns the row, numbered within the split, at a position of an epoch. */
  at(epoch: number, position: number): number;
  /** Writes the `into.length` rows from `position` on; all must be within the epoch. */
  range(epoch: number, position: number, into: Uint32Array): void;
}

/** Shards in memory at a time, in addition to the next ones: at 128 MiB per shard, half a GiB in all. */
const shardsAWindow = 2;
/** Compact size up to which a split is held and shuffled completely. */
const fullShuffleBytes = 512 * 1024 * 1024;

/** Rows of each shard of a split too large to shuffle; of the data alone, because the order affects weights. */
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

interface Window {
  readonly epoch: number;
  readonly index: number;
}

interface WindowedOrder extends RowOrder {
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

/** Shuffles splits larger than memory: shards in pseudo-random order, all rows of `shardsAWindow` at a time. */
export function windowedOrder(seed: number, shardRows: readonly number[]): WindowedOrder {
  const starts: number[] = [];
  let rows = 0;
  for (const count of shardRows) {
    starts.push(rows);
    rows += count;
  }
  const windowCount = Math.ceil(shardRows.length / shardsAWindow);
  /** The last two epochs: the current one, and the next, whose first window is looked up in advance. */
  const epochs: Epoch[] = [];

  const epochOf = (number: number): Epoch => {
    let epoch = epochs.find((each) => each.number === number);
    if (epoch === undefined) {
      epoch = layOut(number);
      epochs.push(epoch);
      if (epochs.length > 2) epochs.shift();
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
