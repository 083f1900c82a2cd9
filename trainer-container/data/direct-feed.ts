import type { Sampler } from "../../core/training/sampler";
import type { Batch } from "../engine/engine";
import type { Feed, ValidationBlocks } from "../loop/feed";
import type { FeatureSplit } from "./feature-split";

/** Gathers each microshard when it is asked for, on this thread, into one buffer that is used again. */
export function createDirectFeed(split: FeatureSplit, sampler: Sampler): Feed {
  const rows = sampler.rowsPerMicroshard;
  const indexes = new Uint32Array(rows);
  const batch: Batch = {
    inputs: new Float32Array(rows * split.width),
    labels: split.createLabels(rows),
    rows,
  };
  return {
    microshard(step, index) {
      sampler.rowsOf(step, index, indexes);
      split.gather(indexes, batch.inputs, batch.labels);
      return batch;
    },
    close: async () => undefined,
  };
}

/** The split in its own order, `blockRows` at a time; the last block holds the rest. */
export function createValidationBlocks(split: FeatureSplit, blockRows: number): ValidationBlocks {
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
