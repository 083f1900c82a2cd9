import type { ColumnSchema } from "../datasets/shapes";
import { type DecodedShard, decodeFeatureShard } from "../features/encoding";
import { inputColumns } from "../features/planned-rows";
import type { FeatureManifest, FeatureTransform, LabelEncoding } from "../features/shapes";
import { ShardEncoder } from "../features/shard-encoder";
import type { RowSource } from "../features/values";
import type { ObjectStore } from "../ports";
import { nonFinitePrediction, outputMismatch } from "./errors";
import type { Predictions } from "./metrics";
import type { ModelArtifact } from "./model-artifact";

/** A loaded model: `trainer-container/tfjs`'s `loadPredictor`, or a function in a test. */
export interface RowPredictor {
  /**
   * Maps `[count, width]` dense rows to probabilities `[count, classes]` (two classes: `[count]`, of the second) or to
   * values `[count]`.
   */
  predict(inputs: Float32Array, count: number): Float32Array;
}

const batchRows = 1024;

/** Reads a split's shards, one in memory at a time. */
export async function* splitShards(
  features: FeatureManifest,
  objects: ObjectStore,
  split: "validation" | "test",
): AsyncGenerator<DecodedShard> {
  for (const { sha256 } of features.splits[split].shards) {
    yield decodeFeatureShard(await objects.getContent(sha256), features);
  }
}

/**
 * Predicts rows, and returns the predictions with the rows' labels and slices.
 *
 * @param sample gets each shard with the number of its first row
 * @throws NON_FINITE_PREDICTION, MODEL_OUTPUT_MISMATCH
 */
export async function predictShards(
  shards: AsyncIterable<DecodedShard>,
  shape: {
    readonly rows: number;
    readonly slices: number;
    readonly transform: FeatureTransform;
    readonly label: LabelEncoding;
  },
  predictor: RowPredictor,
  sample?: { add(shard: DecodedShard, first: number): void },
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
  for await (const shard of shards) {
    labels.set(shard.label, at);
    slices.set(shard.slices, at * shape.slices);
    for (let from = 0; from < shard.rows; from += batchRows) {
      const count = Math.min(batchRows, shard.rows - from);
      for (let row = 0; row < count; row += 1) shard.writeRow(from + row, inputs, row * width);
      const predictions = predictor.predict(inputs.subarray(0, count * width), count);
      if (predictions.length !== count * outputWidth) throw outputMismatch(outputWidth, predictions.length / count);
      const wrong = predictions.findIndex((value) => !Number.isFinite(value));
      if (wrong >= 0) throw nonFinitePrediction(at + from + Math.floor(wrong / outputWidth), predictions[wrong]!);
      outputs.set(predictions, (at + from) * outputWidth);
    }
    sample?.add(shard, at);
    at += shard.rows;
  }
  return { predictions: { classes, labels, outputs }, slices };
}

/** Returns why a model cannot read rows of these columns; empty if it can. */
export function misfits({ inputSchema, label }: ModelArtifact, schema: readonly ColumnSchema[]): readonly string[] {
  const columns = new Map(schema.map((column) => [column.name, column]));
  const reasons: string[] = [];
  for (const { name, type, shape } of inputSchema) {
    const source = columns.get(name);
    const here = source && `${source.type}${source.shape ? ` of shape [${source.shape}]` : ""}`;
    if (source === undefined) reasons.push(`it needs column ${name}, which the dataset does not have`);
    else if (source.type !== type || String(source.shape) !== String(shape)) {
      reasons.push(
        `it needs column ${name} of type ${type}${shape ? ` and shape [${shape}]` : ""}; in the dataset it is ${here}`,
      );
    }
  }
  const answer = schema.find(({ role }) => role === "label");
  if (answer?.name !== label.column) reasons.push(`it predicts ${label.column}; the label is ${answer?.name}`);
  else if ((answer.type === "float") !== (label.kind === "value")) {
    reasons.push(`it predicts a ${label.kind} of ${label.column}; the label is of type ${answer.type}`);
  }
  return reasons;
}

/**
 * Reads raw rows with a model's own transform and classes, as in serving. A class that the model does not know is -1,
 * which it cannot predict.
 *
 * @param chosen 1 for each row that is read, of all rows in order
 */
export async function* modelRows(
  artifact: Pick<ModelArtifact, "transform" | "label">,
  schema: readonly ColumnSchema[],
  source: RowSource,
  chosen: Uint8Array,
): AsyncGenerator<DecodedShard> {
  const { transform, label } = artifact;
  const rows = chosen.reduce((sum, one) => sum + one, 0);
  const encoder = new ShardEncoder({ transform, label, slices: [] }, schema, { rows, withSlices: false });
  const needed = new Set([...inputColumns(transform), label.column]);
  for await (const batch of source.read(schema.filter(({ name }) => needed.has(name)))) {
    const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
    const some = all.filter((row) => chosen[batch.firstRow + row] === 1);
    for (const shard of encoder.add(batch, some)) yield decodeFeatureShard(shard.bytes, artifact);
  }
}
