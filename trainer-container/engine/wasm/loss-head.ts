/** Loss of a batch and its gradient by the model's outputs, with the formulas of `losses.ts` in double precision. */
import type { Task } from "../../../core/runs/model-definition";
import type { Batch } from "../engine";

/** Writes a row's gradient times `weight`; returns its loss times `weight`. */
type RowLoss = (outputs: Float32Array, labels: ArrayLike<number>, weight: number, into: Float32Array) => number;

/** Returns the sum of weight × loss. Writes the gradient to `gradient`, `[rows, width]` like `outputs`. */
export function lossHead(
  task: Task,
  batch: Batch,
  width: number,
  outputs: Float32Array,
  gradient: Float32Array,
): number {
  const { rows, labels, weights } = batch;
  const rowLoss = { classification: softmaxCrossEntropy, binary: sigmoidCrossEntropy, regression: meanSquaredError }[
    task
  ];
  const perRow = task === "regression" ? width : 1;
  let loss = 0;
  for (let row = 0; row < rows; row++) {
    const [from, to] = [row * width, (row + 1) * width];
    const own = labels.subarray(row * perRow, (row + 1) * perRow);
    loss += rowLoss(outputs.subarray(from, to), own, weights?.[row] ?? 1, gradient.subarray(from, to));
  }
  return Math.fround(loss);
}

const softmaxCrossEntropy: RowLoss = (outputs, labels, weight, into) => {
  let largest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < outputs.length; i++) largest = Math.max(largest, outputs[i] as number);
  let sum = 0;
  for (let i = 0; i < outputs.length; i++) sum += Math.exp((outputs[i] as number) - largest);
  const label = labels[0] as number;
  for (let i = 0; i < outputs.length; i++) {
    into[i] = weight * (Math.exp((outputs[i] as number) - largest) / sum - (i === label ? 1 : 0));
  }
  return weight * (Math.log(sum) + largest - (outputs[label] as number));
};

const sigmoidCrossEntropy: RowLoss = (outputs, labels, weight, into) => {
  const [z, y] = [outputs[0] as number, labels[0] as number];
  into[0] = weight * (1 / (1 + Math.exp(-z)) - y);
  return weight * (Math.max(z, 0) - z * y + Math.log1p(Math.exp(-Math.abs(z))));
};

const meanSquaredError: RowLoss = (outputs, labels, weight, into) => {
  let total = 0;
  for (let i = 0; i < outputs.length; i++) {
    const error = (outputs[i] as number) - Math.fround(labels[i] as number);
    into[i] = (weight * 2 * error) / outputs.length;
    total += error * error;
  }
  return (weight * total) / outputs.length;
};
