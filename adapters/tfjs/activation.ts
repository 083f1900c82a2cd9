import type { Task } from "../../core/runs/model-definition";

/**
 * Converts logits to probabilities in place: softmax over each row of `outputs`, sigmoid for a binary task, nothing for
 * a regression. It is plain JavaScript, so that training, evaluation and serving get the same bits.
 */
export function applyOutputActivation(task: Task, values: Float32Array, outputs: number): Float32Array {
  if (task === "binary") for (let i = 0; i < values.length; i++) values[i] = 1 / (1 + Math.exp(-(values[i] as number)));
  if (task === "classification") {
    for (let start = 0; start < values.length; start += outputs) softmaxRow(values.subarray(start, start + outputs));
  }
  return values;
}

function softmaxRow(row: Float32Array): void {
  let largest = Number.NEGATIVE_INFINITY;
  for (const value of row) if (value > largest) largest = value;
  let sum = 0;
  for (let i = 0; i < row.length; i++) {
    const exponential = Math.exp((row[i] as number) - largest);
    row[i] = exponential;
    sum += exponential;
  }
  for (let i = 0; i < row.length; i++) row[i] = (row[i] as number) / sum;
}
