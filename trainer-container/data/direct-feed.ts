import { createSparseInputs } from "../../core/features/sparse";
import type { Batch } from "../engine/engine";
import { allocateSum } from "../kernels/sum-memory";
import type { FeatureSplit } from "./feature-split";
import type { Feed, SplitBlocks } from "./feed";
import type { Sampler } from "./sampler";

/** Interval at which gathering ahead yields to the sockets, because other ranks wait for this one's sums. */
const turnMs = 0.5;

interface Gathered {
  readonly batch: Batch;
  step: number;
  index: number;
}

/**
 * Gathers the next step's micro-batches while this one's sums are being sent, the rest on request. Buffers are reused.
 * @param sparseEntries pairs per row, if rows are sparse
 */
export function createDirectFeed(split: FeatureSplit, sampler: Sampler, sparseEntries?: number): Feed {
  const rows = sampler.rowsPerMicroBatch;
  const indexes = new Uint32Array(rows);
  const places: Gathered[] = [];
  let turn: NodeJS.Immediate | undefined;

  const place = (number: number): Gathered => {
    places[number] ??= {
      batch: createBatch(rows, split.width, split.createLabels(rows), sparseEntries),
      step: -1,
      index: -1,
    };
    return places[number];
  };

  const gather = (into: Gathered, step: number, index: number): Batch => {
    if (into.step === step && into.index === index) return into.batch;
    sampler.rowsOf(step, index, indexes);
    const { inputs, sparse, labels } = into.batch;
    if (sparse) split.gatherSparse(indexes, sparse, labels);
    else split.gather(indexes, inputs, labels);
    into.step = step;
    into.index = index;
    return into.batch;
  };

  return {
    microBatch(step, index, { first }) {
      // The caller waits for a micro-batch that is not gathered yet, and the wait is measured.
      clearImmediate(turn);
      return gather(place(index - first), step, index);
    },
    ahead(step, { first, end }) {
      clearImmediate(turn);
      const from = (index: number) => {
        turn = setImmediate(() => {
          const began = performance.now();
          let next = index;
          while (next < end && performance.now() - began < turnMs) {
            gather(place(next - first), step, next);
            next += 1;
          }
          if (next < end) from(next);
        });
      };
      from(first);
    },
    async close() {
      clearImmediate(turn);
    },
  };
}

/** Allocates `rows` rows, dense or sparse. Dense rows are in memory that engines read without a copy. */
export function createBatch(rows: number, width: number, labels: Batch["labels"], sparseEntries?: number): Batch {
  return sparseEntries === undefined
    ? { inputs: allocateSum(rows * width), labels, rows }
    : { inputs: new Float32Array(0), sparse: createSparseInputs(sparseEntries, rows), labels, rows };
}

/** Reads the split in its own order, `blockRows` at a time. The last block holds the rest. */
export function createSplitBlocks(split: FeatureSplit, blockRows: number): SplitBlocks {
  const inputs = new Float32Array(blockRows * split.width);
  const labels = split.createLabels(blockRows);
  return {
    count: Math.ceil(split.rows / blockRows),
    block(index) {
      const first = index * blockRows;
      const rows = Math.min(blockRows, split.rows - first);
      const into = inputs.subarray(0, rows * split.width);
      const labelsInto = labels.subarray(0, rows);
      split.gather(
        Uint32Array.from({ length: rows }, (_, i) => first + i),
        into,
        labelsInto,
      );
      return { inputs: into, labels: labelsInto, rows };
    },
  };
}
