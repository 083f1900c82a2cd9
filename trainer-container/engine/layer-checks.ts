/**
 * Refuses layers that cannot be computed, models that cannot be rebuilt from the topology, and weights beyond memory.
 */

import os from "node:os";
import * as tf from "@tensorflow/tfjs-core";
import { getBackend, util } from "@tensorflow/tfjs-core";
import { type LayersModel, layers } from "@tensorflow/tfjs-layers";
import { registerOwnLayers } from "../tfjs/layers/register";
import { allLayers } from "./canonical-names";
import { ModelError } from "./errors";
import { describeThrown, TimeLimitError } from "./user-code";

type Layer = LayersModel["layers"][number];
type Shape = readonly (number | null)[];

/** @throws ModelError that names the layer, its value and the rule */
export function checkLayers(model: LayersModel): void {
  checkShapes(model.layers);
  for (const layer of allLayers([model])) checkDropout(layer);
}

function checkShapes(list: readonly Layer[]): void {
  for (const layer of list) {
    checkShapes((layer as Partial<LayersModel>).layers ?? []);
    const className = layer.getClassName();
    for (const { inputShapes, outputShapes } of layer.inboundNodes) {
      const [from, to] = [shapesOf(inputShapes), shapesOf(outputShapes)];
      checkSides(layer, from, to);
      if (className === "Reshape") checkReshape(layer, from[0]!, to[0]!);
      if (className === "Softmax") checkSoftmax(layer, from[0]!);
    }
  }
}

/** Returns the shapes of a node. A model of one layer has the shape itself. */
const shapesOf = (shapes: readonly unknown[]): readonly Shape[] =>
  (Array.isArray(shapes[0]) ? shapes : [shapes]) as readonly Shape[];

const rowOf = (shape: Shape): string => `[${shape.slice(1).map((side) => side ?? -1)}]`;

/** Refuses windows that do not fit: the kernels of such layers read outside of their memory. */
function checkSides(layer: Layer, from: readonly Shape[], to: readonly Shape[]): void {
  if (!to.some((shape) => shape.some((side) => side !== null && !(side >= 1)))) return;
  throw new ModelError(
    `The layer '${layer.name}' makes rows of shape ${to.map(rowOf)} from ${from.map(rowOf)}, but each side must be at least 1. ` +
      "Choose a smaller poolSize, kernelSize, dilationRate or cropping, fewer strides before it, or padding 'same'.",
  );
}

function checkReshape(layer: Layer, from: Shape, to: Shape): void {
  if (from.slice(1).includes(null)) return;
  const [count, sides] = [from, to].map((shape) => shape.slice(1).reduce<number>((all, side) => all * (side ?? 1), 1));
  const open = to.slice(1).filter((side) => side === null).length;
  if (open === 0 ? count === sides : open === 1 && count! % sides! === 0) return;
  throw new ModelError(
    `The layer '${layer.name}' cannot make rows of shape ${rowOf(to)} from ${rowOf(from)}, which have ${count} values: ` +
      "the sides must multiply to that number, and one at most may be -1. Change its targetShape.",
  );
}

/** TensorFlow.js computes a softmax along the last axis. Its layer's default is the axis 1. */
function checkSoftmax(layer: Layer, { length }: Shape): void {
  const axes = [(layer as unknown as { readonly axis: number | readonly number[] }).axis].flat();
  if (axes.length > 1 || axes[0] === -1 || axes[0] === length - 1) return;
  throw new ModelError(
    `The layer '${layer.name}' has axis ${axes[0]} (the default is 1), but a softmax is computed along the last axis only. ` +
      "Set axis: -1, and move another axis to the end by tf.layers.permute before it.",
  );
}

/** Refuses a dropout of everything, for which TensorFlow.js drops nothing. It takes a larger rate as 1. */
function checkDropout(layer: Layer): void {
  const { rate } = layer.getConfig();
  if (!layer.getClassName().includes("Dropout") || !(Number(rate) >= 1)) return;
  throw new ModelError(
    `The layer '${layer.name}' has rate 1 or more, but it must be below 1: it would drop everything.`,
  );
}

registerOwnLayers();

/** Classes of layers and initializers that the predictor has, by name, read before user code could add others. */
const builtInClasses: ReadonlyMap<string, unknown> = new Map(
  Object.entries(tf.serialization.SerializationMap.getMap().classNameMap).map(([name, [type]]) => [name, type]),
);

const rule = "its artifact must load without user code. Use the layers of the context's tf.layers.";

/** @throws ModelError that names the class, or the layer that computes by code of the module */
export function checkClasses(model: LayersModel): void {
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const className = (value as { class_name?: unknown }).class_name;
    if (typeof className === "string" && !builtInClasses.has(className)) {
      throw new ModelError(`The model uses the class '${className}', which tf.layers does not have; ${rule}`);
    }
    Object.values(value).forEach(visit);
  };
  visit(model.toJSON(null, false));
  for (const layer of allLayers([model])) checkLayer(layer);
}

/** Refuses a layer whose class, activations or functions differ from those that the names stand for. */
function checkLayer(layer: Layer): void {
  const { activation, recurrentActivation } = layer as Activated;
  check(`layer '${layer.name}'`, layer);
  for (const each of [activation, recurrentActivation])
    if (each) check(`activation of the layer '${layer.name}'`, each);
}

interface Activated {
  readonly activation?: tf.serialization.Serializable | null;
  readonly recurrentActivation?: tf.serialization.Serializable | null;
}

function check(what: string, object: tf.serialization.Serializable): void {
  const className = object.getClassName();
  if (object.constructor !== builtInClasses.get(className)) {
    throw new ModelError(`The ${what} is of a class of its own that extends '${className}'; ${rule}`);
  }
  const replaced = Object.entries(object).find(
    ([name, value]) => typeof value === "function" && name in Object.getPrototypeOf(object),
  );
  if (replaced) throw new ModelError(`The function '${replaced[0]}' of the ${what} was replaced; ${rule}`);
}

/** Returns the memory in bytes that this process may take: the machine's, or its container's. */
export function processMemory(): number {
  const total = os.totalmem();
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, total) : total;
}

type AddWeight = layers.Layer["addWeight"];

/** WebAssembly's memory, in bytes. */
const wasmMemory = 2 ** 32;

/**
 * Builds a model and names the weight that memory cannot hold: its initial values would end the process.
 * @throws ModelError
 */
export function withinWeightSize<T>(build: () => T): T {
  const prototype = layers.Layer.prototype as unknown as { addWeight: AddWeight };
  const { addWeight } = prototype;
  const limit = getBackend() === "wasm" ? Math.min(wasmMemory, processMemory()) : processMemory();
  let total = 0;
  let current: string | undefined;
  prototype.addWeight = function (this: layers.Layer, name, shape, ...others) {
    const bytes = 4 * util.sizeFromShape(shape as number[]);
    total += bytes;
    current = `The layer '${this.name}' has the weight '${name}' of shape [${shape}], which takes ${gigabytes(bytes)}`;
    if (total > limit)
      throw new RangeError(`with the weights before it ${gigabytes(total)}, but this process has ${gigabytes(limit)}`);
    const variable = addWeight.call(this, name, shape, ...others);
    current = undefined; // not where the time limit ends the call, which runs no finally
    return variable;
  };
  try {
    return build();
  } catch (error) {
    const cause = error instanceof ModelError ? error.cause : error;
    if (current === undefined || !(cause instanceof RangeError || cause instanceof TimeLimitError)) throw error;
    throw new ModelError(
      `${current} and cannot be created: ${describeThrown(cause)}. ` +
        "Choose fewer units or filters, a smaller inputDim or input, or a layer with fewer weights.",
      cause,
    );
  } finally {
    prototype.addWeight = addWeight;
  }
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
