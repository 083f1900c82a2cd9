import { decodeFeatureShard, type FeatureView } from "../features/encoding";
import type { FeatureManifest, FeatureTransform, LabelEncoding } from "../features/shapes";
import type { ObjectStore } from "../ports";
import { NonFinitePredictionError, OutputMismatchError } from "./errors";
import type { Predictions } from "./metrics";

/** A loaded model: `adapters/tfjs`'s `loadPredictor`, or a function in a test. */
export interface RowPredictor {
  /**
   * Maps `[count, width]` dense rows to probabilities `[count, classes]` (two classes: `[count]`, of the second) or to
   * values `[count]`.
   */
  predict(inputs: Float32Array, count: number): Float32Array;
}

/** Number of dense rows in memory at a time. */
const batchRows = 1024;

/** Reads a split's shards, one in memory at a time. */
export async function* splitShards(
  features: FeatureManifest,
  objects: ObjectStore,
  split: "validation" | "test",
): AsyncGenerator<FeatureView> {
  for (const { sha256 } of features.splits[split].shards) {
    yield decodeFeatureShard(await objects.getContent(sha256), features);
  }
}

/**
 * Predicts rows, and returns the predictions with the rows' labels and slices.
 *
 * @param sample gets each shard with the number of its first row
 * @throws NonFinitePredictionError, OutputMismatchError
 */
export async function predictShards(
  shards: AsyncIterable<FeatureView>,
  shape: {
    readonly rows: number;
    readonly slices: number;
    readonly transform: FeatureTransform;
    readonly label: LabelEncoding;
  },
  predictor: RowPredictor,
  sample?: { add(view: FeatureView, first: number): void },
): Promise<{ readonly predictions: Predictions; readonly slices: Int32Array }> {
  const { rows, label } = shape;
  const { width } = shape.transform;
  const classes = label.kind === "class" ? label.classes.length : 0;
  const outputWidth = classes > 2 ? classes : 1;
  const labels = classes > 0 ? new Int32Array(rows) : new Float32Array(rows);
  const outputs = new Float32Array(rows * outputWidth);
  const slices = new Int32Array(rows * shape.slices);
  const inputs = new Float32Array(Math.min(batchRows, rows) * width);
  let at = 0;
  for await (const view of shards) {
    labels.set(view.label, at);
    slices.set(view.slices, at * shape.slices);
    for (let from = 0; from < view.rows; from += batchRows) {
      const count = Math.min(batchRows, view.rows - from);
      for (let row = 0; row < count; row += 1) view.writeRow(from + row, inputs, row * width);
      const found = predictor.predict(inputs.subarray(0, count * width), count);
      if (found.length !== count * outputWidth) throw new OutputMismatchError(outputWidth, found.length / count);
      const wrong = found.findIndex((value) => !Number.isFinite(value));
      if (wrong >= 0) throw new NonFinitePredictionError(at + from + Math.floor(wrong / outputWidth), found[wrong]!);
      outputs.set(found, (at + from) * outputWidth);
    }
    sample?.add(view, at);
    at += view.rows;
  }
  return { predictions: { classes, labels, outputs }, slices };
}
