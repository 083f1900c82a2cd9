import { fullOrder, windowedOrder } from "./row-order";

/**
 * Rows of each step, a function of (seed, epoch, step) alone, so a resumed run continues exactly. An epoch is one
 * pseudo-random order, cut into batches of `batchSize`; the remainder is omitted. A split smaller than a batch repeats
 * its order.
 */
export interface Sampler {
  readonly stepsPerEpoch: number;
  readonly rowsPerMicroBatch: number;
  /** Returns the epoch (from 0) and the step within it (from 0) of the run's step `step` (from 0). */
  position(step: number): { readonly epoch: number; readonly stepInEpoch: number };
  /** Fills `into` (`rowsPerMicroBatch` long) with the rows, numbered within the split, of one micro-batch of a step. */
  rowsOf(step: number, microBatch: number, into: Uint32Array): void;
}

export interface SamplerOptions {
  readonly seed: number;
  readonly rows: number;
  /** Number of rows of a global batch; a multiple of `microBatches`. */
  readonly batchSize: number;
  readonly microBatches: number;
  /** Number of rows of each shard, if the order is windowed (see `windowedShards`). */
  readonly shardRows?: readonly number[];
}

/** Creates the sampler of a training. @throws RangeError for an empty split, or a batch that micro-batches do not divide */
export function createSampler({ seed, rows, batchSize, microBatches, shardRows }: SamplerOptions): Sampler {
  if (batchSize % microBatches !== 0) {
    throw new RangeError(`batchSize is ${batchSize}, but must be a multiple of the ${microBatches} micro-batches`);
  }
  if (rows < 1) throw new RangeError("the training split is empty: there is nothing to sample");
  const stepsPerEpoch = Math.max(1, Math.floor(rows / batchSize));
  const rowsPerMicroBatch = batchSize / microBatches;
  const order = shardRows === undefined ? fullOrder(seed, rows) : windowedOrder(seed, shardRows);
  const position = (step: number) => ({ epoch: Math.floor(step / stepsPerEpoch), stepInEpoch: step % stepsPerEpoch });

  return {
    stepsPerEpoch,
    rowsPerMicroBatch,
    position,
    rowsOf(step, microBatch, into) {
      const { epoch, stepInEpoch } = position(step);
      const first = stepInEpoch * batchSize + microBatch * rowsPerMicroBatch;
      if (first + rowsPerMicroBatch <= rows) order.range(epoch, first, into);
      else for (let i = 0; i < rowsPerMicroBatch; i += 1) into[i] = order.at(epoch, (first + i) % rows);
    },
  };
}
