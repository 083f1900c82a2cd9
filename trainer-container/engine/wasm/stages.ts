/**
 * Stages of the built-in models on one memory. NHWC, `same`, stride 1; losses as in `score.ts`, in double precision.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { SparseInputs } from "../../../core/features/sparse";
import type { Task } from "../../../core/runs/model-definition";
import { type DenseParameters, sparseBackward, sparseForward } from "../../kernels/sparse-layer";
import { type ConvInfo, convolve, filterGradient, inputGradient, maxPool, maxPoolGradient } from "../../tfjs/simd/conv";
import { gemm, type Matrix, packWhole, sumRows } from "../../tfjs/simd/gemm";
import type { Buffers, Simd } from "../../tfjs/simd/simd";
import type { Batch } from "../engine";

/** Addresses of a layer's kernel and bias, or of their gradients. */
interface Parameters {
  readonly kernel: number;
  readonly bias: number;
}

/** One part of the model. It keeps the data for its gradient from `forward` to `backward`. */
export interface Stage {
  /** @returns the address of the output */
  forward(x: number, rows: number): number;
  /**
   * @param dy gradient by the output, overwritten
   * @param wantInput false for the first stage; otherwise the address of the gradient by the input is returned
   */
  backward(dy: number, rows: number, wantInput: boolean): number | undefined;
}

/** The environment of all stages. */
export interface Workshop {
  readonly simd: Simd;
  readonly buffers: Buffers<string>;
  /** The weights and gradients of the current call. */
  readonly weights: () => Parameters;
  readonly gradients: () => Parameters;
  readonly rectified: boolean;
  /** Changes with the weights. */
  readonly version: () => number;
}

const float = 4;

/** Size for whole vectors, because ReLU's gradient rounds up. */
const bytesOf = (elements: number): number => Math.ceil(elements / 4) * 16;

function rectifierGradient(simd: Simd, dy: number, output: number, elements: number): void {
  simd.call["reluGrad"]!(dy, dy, output, Math.ceil(elements / 4));
}

/** Up to this number of rows, it is worth keeping a packed weight for the next micro-batch. */
const fewRows = 64;

/** Packs a weight when it has changed; undefined if packing within the product is as fast. */
function keeper({ simd, buffers, version }: Workshop, name: string, k: number, n: number) {
  let packedOf = -1;
  return (weight: Matrix, rows: number): number | undefined => {
    if (rows > fewRows || n % 8 !== 0) return undefined;
    const at = buffers.at(name, k * n * float);
    if (packedOf !== version()) packWhole(simd, weight, k, n, at);
    packedOf = version();
    return at;
  };
}

/** Creates a dense stage: `units` of activation(x · kernel + bias). */
export function denseStage(index: number, workshop: Workshop, width: number, units: number): Stage {
  const { simd, buffers, weights, gradients, rectified } = workshop;
  const packed = keeper(workshop, `kernel ${index}`, width, units);
  const packedTurned = keeper(workshop, `turned kernel ${index}`, units, width);
  let [x, y] = [0, 0];
  return {
    forward(given, rows) {
      x = given;
      y = buffers.at(`output ${index}`, bytesOf(rows * units));
      const kernel: Matrix = { at: weights().kernel, row: units * float, column: float };
      gemm(simd, {
        m: rows,
        n: units,
        k: width,
        a: { at: x, row: width * float, column: float },
        b: kernel,
        packed: packed(kernel, rows),
        c: { at: y, row: units * float },
      });
      simd.call["addBias"]!(y, y, weights().bias, rows, units * float, rectified ? 1 : 0);
      return y;
    },
    backward(dy, rows, wantInput) {
      if (rectified) rectifierGradient(simd, dy, y, rows * units);
      gemm(simd, {
        m: width,
        n: units,
        k: rows,
        a: { at: x, row: float, column: width * float },
        b: { at: dy, row: units * float, column: float },
        c: { at: gradients().kernel, row: units * float },
      });
      sumRows(simd, dy, rows, units, gradients().bias);
      if (!wantInput) return undefined;
      const dx = buffers.at(`input gradient ${index}`, bytesOf(rows * width));
      const turned: Matrix = { at: weights().kernel, row: float, column: units * float };
      gemm(simd, {
        m: rows,
        n: width,
        k: units,
        a: { at: dy, row: units * float, column: float },
        b: turned,
        packed: packedTurned(turned, rows),
        c: { at: dx, row: width * float },
      });
      return dx;
    },
  };
}

/** Creates the first dense layer for sparse rows: no product, and no work for zeros. */
export function sparseStage(index: number, workshop: Workshop, width: number, units: number) {
  const { simd, buffers, weights, gradients, rectified } = workshop;
  const at = ({ kernel, bias }: Parameters): DenseParameters => ({
    kernel: simd.floats(kernel, width * units),
    bias: simd.floats(bias, units),
  });
  let y = 0;
  return {
    forward(inputs: SparseInputs, rows: number): number {
      y = buffers.at(`output ${index}`, bytesOf(rows * units));
      sparseForward(inputs, at(weights()), simd.floats(y, rows * units), rectified);
      return y;
    },
    /** @param dy overwritten. */
    backward(inputs: SparseInputs, dy: number, rows: number): void {
      if (rectified) rectifierGradient(simd, dy, y, rows * units);
      sparseBackward(inputs, simd.floats(dy, rows * units), at(gradients()));
    },
  };
}

/** activation(max-pool(convolution) + bias): equals pool(activation(convolution + bias)) on a quarter of the memory. */
export function convolutionStage(
  index: number,
  { simd, buffers, ...workshop }: Workshop,
  input: readonly [height: number, width: number, channels: number],
  kernelShape: readonly number[],
): Stage {
  const { weights, gradients, rectified } = workshop;
  const [channels, side] = [kernelShape.at(-1) as number, kernelShape[0] as number];
  const infos = (rows: number): { conv: ConvInfo; pool: ConvInfo } => {
    const filter: [number, number, number, number] = [side, side, input[2], channels];
    return {
      conv: tf.backend_util.computeConv2DInfo([rows, ...input], filter, 1, 1, "same"),
      pool: tf.backend_util.computePool2DInfo([rows, input[0], input[1], channels], 2, 2, 1, "valid"),
    };
  };
  let [x, convolved, pooled, y] = [0, 0, 0, 0];
  return {
    forward(given, rows) {
      const { conv, pool } = infos(rows);
      x = given;
      const [size, places] = [rows * input[0] * input[1] * channels, rows * pool.outHeight * pool.outWidth];
      convolved = buffers.at(`convolved ${index}`, bytesOf(size));
      pooled = buffers.at(`pooled ${index}`, bytesOf(places * channels));
      y = buffers.at(`output ${index}`, bytesOf(places * channels));
      convolve(simd, conv, x, weights().kernel, convolved);
      maxPool(simd, pool, convolved, pooled);
      simd.call["addBias"]!(y, pooled, weights().bias, places, channels * float, rectified ? 1 : 0);
      return y;
    },
    backward(dy, rows, wantInput) {
      const { conv, pool } = infos(rows);
      const places = rows * pool.outHeight * pool.outWidth;
      if (rectified) rectifierGradient(simd, dy, y, places * channels);
      sumRows(simd, dy, places, channels, gradients().bias);
      const dz = buffers.at(`convolution gradient ${index}`, bytesOf(rows * input[0] * input[1] * channels));
      maxPoolGradient(simd, pool, { x: convolved, y: pooled, dy, dx: dz });
      filterGradient(simd, conv, x, dz, gradients().kernel);
      if (!wantInput) return undefined;
      const dx = buffers.at(`input gradient ${index}`, bytesOf(rows * input[0] * input[1] * input[2]));
      inputGradient(simd, conv, dz, weights().kernel, dx);
      return dx;
    },
  };
}

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
    const rowLabels = labels.subarray(row * perRow, (row + 1) * perRow);
    loss += rowLoss(outputs.subarray(from, to), rowLabels, weights?.[row] ?? 1, gradient.subarray(from, to));
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
