/** Loss of a batch and its gradient by the model's output, with the formulas of `losses.ts`. */
import type { ModelDefinition } from "../../../core/runs/model-definition";
import type { Batch } from "../engine";
import type { NativeBinding } from "../native-binding";
import { attributesOf } from "./op";
import type { Operations, TensorId } from "./operations";

interface Head {
  /** Σ weight × loss. */
  readonly loss: number;
  /** Weighted, `[rows, outputs]`. */
  readonly gradient: TensorId;
}

/** @param outputs values of the tensor `output`, `[rows, outputs]` */
export function lossHead(
  operations: Operations,
  binding: NativeBinding,
  definition: ModelDefinition,
  batch: Batch,
  output: TensorId,
  values: Float32Array,
): Head {
  const { rows, weights } = batch;
  if (definition.task === "classification") return classification(operations, binding, batch, output);
  const gradient = new Float32Array(values.length);
  const width = definition.outputs;
  const row = definition.task === "binary" ? sigmoidCrossEntropy : meanSquaredError;
  let loss = 0;
  for (let i = 0; i < rows; i++) loss += row(values, batch.labels, i, width, weights?.[i] ?? 1, gradient);
  return { loss: Math.fround(loss), gradient: operations.tensor([rows, width], gradient) };
}

function classification(
  operations: Operations,
  binding: NativeBinding,
  { rows, labels, weights }: Batch,
  output: TensorId,
): Head {
  const { float, int32 } = attributesOf(binding);
  const indices = operations.indices(labels);
  const attributes = [float("T"), int32("Tlabels")];
  const outputs = operations.runFor("SparseSoftmaxCrossEntropyWithLogits", attributes, [output, indices], 2);
  const [rowLoss, gradient] = outputs as [TensorId, TensorId];
  const losses = operations.read(rowLoss);
  let loss = 0;
  for (let i = 0; i < rows; i++) loss += (losses[i] as number) * (weights?.[i] ?? 1);
  if (!weights) return { loss: Math.fround(loss), gradient };
  const column = operations.tensor([rows, 1], weights);
  return { loss: Math.fround(loss), gradient: operations.run("Mul", [float("T")], [gradient, column]) };
}

/** Writes a row's gradient; returns its loss, both weighted. */
type RowLoss = (
  values: Float32Array,
  labels: ArrayLike<number>,
  row: number,
  width: number,
  weight: number,
  gradient: Float32Array,
) => number;

const sigmoidCrossEntropy: RowLoss = (values, labels, row, _, weight, gradient) => {
  const [z, y] = [values[row] as number, labels[row] as number];
  gradient[row] = weight * (1 / (1 + Math.exp(-z)) - y);
  return weight * (Math.max(z, 0) - z * y + Math.log1p(Math.exp(-Math.abs(z))));
};

const meanSquaredError: RowLoss = (values, labels, row, width, weight, gradient) => {
  let total = 0;
  for (let i = row * width; i < (row + 1) * width; i++) {
    const error = (values[i] as number) - Math.fround(labels[i] as number);
    gradient[i] = (weight * 2 * error) / width;
    total += error * error;
  }
  return (weight * total) / width;
};
