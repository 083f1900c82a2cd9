import type * as tf from "@tensorflow/tfjs-core";
import type { ParameterSlot } from "../engine";
import { ModelError } from "../errors";

/** Largest accepted difference of two float32 results, relative to the largest element, or absolute below 1. */
const tolerance = 1e-5;
/** TF32 keeps 10 bits, so another maximum or side of a ReLU may be chosen: the gradient as a whole differs little. */
const tf32Tolerance = { loss: 1e-2, gradient: 0.1 };

/**
 * Compares a pass's results. `lossScale` multiplies the graph's gradient but for its statistics; `tf32`: products were
 * rounded.
 * @throws ModelError if they differ
 */
export function requireEqual(
  tape: readonly tf.Tensor[],
  graph: readonly ArrayLike<number>[],
  layout: readonly ParameterSlot[],
  { lossScale = 1, tf32 = false } = {},
): void {
  const [numbers, gradient] = tape.map((tensor) => tensor.dataSync() as Float32Array);
  const [foundNumbers, foundGradient] = graph.map((values) => Float32Array.from(values));
  if (numbers === undefined || foundNumbers === undefined) return;
  const differentNumber = firstDifference(numbers, foundNumbers, tf32 ? tf32Tolerance.loss : tolerance);
  if (differentNumber !== undefined) throw different("loss or metrics", numbers, foundNumbers, differentNumber);

  if (gradient === undefined || foundGradient === undefined) return; // of an evaluation
  const trained = layout.reduce((total, { size, trainable }) => total + (trainable ? size : 0), 0);
  const unscaled = foundGradient.map((value, i) => (i < trained ? value / lossScale : value));
  const place = tf32
    ? largestDifference(gradient, unscaled, tf32Tolerance.gradient)
    : firstDifference(gradient, unscaled, tolerance);
  if (place === undefined) return;
  const slot = layout.find(({ offset, size }) => place < offset + size);
  throw different(`gradient of ${slot?.name}`, gradient, unscaled, place);
}

function different(what: string, tape: Float32Array, graph: Float32Array, place: number): ModelError {
  return new ModelError(
    `The model's graph gives ${graph[place]} for its ${what}, where its operations one by one give ${tape[place]}. ` +
      "Set graph: false in defineTraining to compute it without a graph.",
  );
}

/** Returns the first place with a difference above the tolerance, relative to the largest element or to 1. */
function firstDifference(expected: Float32Array, found: Float32Array, accepted: number): number | undefined {
  const limit = accepted * expected.reduce((most, value) => Math.max(most, finiteSize(value)), 1);
  return placeOf(expected, (value, i) => isOneFinite(value, found[i]!) || Math.abs(found[i]! - value) > limit);
}

/** Returns the place of the largest difference, if the norm of all is above the tolerance, relative to the norm or to 1. */
function largestDifference(expected: Float32Array, found: Float32Array, accepted: number): number | undefined {
  const place = placeOf(expected, (value, i) => isOneFinite(value, found[i]!));
  if (place !== undefined) return place;
  const differences = expected.map((value, i) => finiteSize(found[i]! - value));
  const norm = (values: Float32Array): number =>
    Math.sqrt(values.reduce((total, value) => total + finiteSize(value) ** 2, 0));
  if (norm(differences) <= accepted * Math.max(1, norm(expected))) return undefined;
  return differences.reduce((most, value, i) => (value > differences[most]! ? i : most), 0);
}

/** Whether one of two values is finite and the other is not. Infinity and NaN count as equal: the order of additions decides. */
function isOneFinite(a: number, b: number): boolean {
  return Number.isFinite(a) !== Number.isFinite(b);
}

function finiteSize(value: number): number {
  return Number.isFinite(value) ? Math.abs(value) : 0;
}

function placeOf(values: Float32Array, test: (value: number, i: number) => boolean): number | undefined {
  const place = values.findIndex(test);
  return place === -1 ? undefined : place;
}
