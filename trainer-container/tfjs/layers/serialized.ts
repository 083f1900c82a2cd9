/**
 * Completes classes whose topology loses something or that fail within a model. Masks of several inputs are joined as
 * in Keras 2: stock TensorFlow.js leaves out the last one, with a rank that recurrent layers refuse.
 */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import type { NetworkLayer } from "../../../core/export";

type Mask = tf.Tensor | null | undefined;

interface Merge {
  readonly axis?: number;
  computeMask(inputs: tf.Tensor | tf.Tensor[], masks: Mask | readonly Mask[]): Mask;
}

/** Completes the masks of this process's layers. Call it once. */
function joinMasks(): void {
  const [add, concatenate] = [layers.add(), layers.concatenate()].map((each) => Object.getPrototypeOf(each)) as [
    Merge,
    Merge,
  ];
  const merge = Object.getPrototypeOf(add) as Merge;
  merge.computeMask = (_, masks) => {
    const [first, ...others] = new Set([masks].flat());
    // Without a mask of the first of two inputs there was never one; trained models depend on it.
    if (!first) return null;
    return tf.tidy(() => others.reduce<tf.Tensor>((all, mask) => (mask ? tf.logicalAnd(all, mask) : all), first));
  };
  const { computeMask } = concatenate;
  concatenate.computeMask = function (this: Merge, inputs, masks) {
    if (isAlongLast(this.axis, inputs) || !Array.isArray(masks) || !masks.some(Boolean))
      return computeMask.call(this, inputs, masks);
    return tf.tidy(() => {
      // An input without a mask has all its steps. Stock TensorFlow.js gives it a mask of other sides.
      const filled = masks.map((mask: Mask, i) => mask ?? tf.ones([inputs].flat()[i]!.shape.slice(0, -1), "bool"));
      return computeMask.call(this, inputs, filled) as tf.Tensor;
    });
  };
}

const isAlongLast = (axis = -1, inputs: tf.Tensor | tf.Tensor[]): boolean =>
  axis === -1 || axis === [inputs].flat()[0]!.rank - 1;

const elementwise: ReadonlySet<string> = new Set(["Add", "Average", "Maximum", "Minimum", "Multiply"]);
const recurrent: ReadonlySet<string> = new Set(["Bidirectional", "GRU", "LSTM", "RNN", "SimpleRNN"]);

/** Returns the layers of a network that join masks for recurrent layers otherwise than stock TensorFlow.js. */
export function joinedMasks(network: readonly NetworkLayer[]): readonly NetworkLayer[] {
  /** The layers that made the mask of an output, by its id. */
  const makers = new Map<string, readonly NetworkLayer[]>();
  return network.flatMap((layer) => {
    const { className, config, id } = layer;
    const sources = layer.inputs.map((input) => makers.get(input) ?? []);
    const before = sources.flat();
    const joins = before.length > 0 && (elementwise.has(className) || fillsMask(layer, sources));
    const makes = joins || className === "Masking" || config["maskZero"] === true;
    const { returnSequences } = ((config["layer"] as typeof layer | undefined) ?? layer).config;
    const after = makes ? [...before, layer] : before;
    makers.set(id, returnSequences === false ? [] : after);
    return recurrent.has(className) ? before.filter((each) => each.inputs.length > 1) : [];
  });
}

function fillsMask({ className, config, outputShape }: NetworkLayer, given: readonly (readonly unknown[])[]): boolean {
  if (className !== "Concatenate" || config["axis"] === -1 || config["axis"] === outputShape.length) return false;
  return given.some((makers) => makers.length === 0);
}

interface SeparableConvolution {
  readonly depthMultiplier: number;
  getConfig(): tf.serialization.ConfigDict;
}

/** The activation whose name stock TensorFlow.js writes to a topology and cannot read. */
export const unreadActivation = "gelu_new";

let completed = false;

export function completeClasses(): void {
  if (completed) return;
  completed = true;
  nameGelu();
  const prototype = Object.getPrototypeOf(
    layers.separableConv2d({ filters: 1, kernelSize: 1 }),
  ) as SeparableConvolution;
  const { getConfig } = prototype;
  prototype.getConfig = function (this: SeparableConvolution) {
    const { depthMultiplier } = this;
    return { ...getConfig.call(this), ...(depthMultiplier === 1 ? {} : { depthMultiplier }) };
  };
  resizeBatches();
  copyShapes();
  joinMasks();
}

/** A topology is read with names in camel case, so the activation's class is found by this name too. */
function nameGelu(): void {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  const geluClass = classNameMap[unreadActivation];
  if (geluClass) classNameMap["geluNew"] = geluClass;
}

interface Resizing extends layers.Layer {
  readonly height: number;
  readonly width: number;
}

/** Lets the layer `resizing` take what a model gives: a list with a batch of images. Stock TensorFlow.js expects one image. */
function resizeBatches(): void {
  const prototype = Object.getPrototypeOf(layers.resizing({ height: 1, width: 1 })) as Resizing;
  const { call } = prototype;
  prototype.call = function (this: Resizing, inputs, options) {
    return call.call(this, Array.isArray(inputs) ? (inputs[0] as tf.Tensor) : inputs, options);
  };
  prototype.computeOutputShape = function (this: Resizing, shape) {
    const dims = (Array.isArray(shape[0]) ? shape[0] : shape) as (number | null)[];
    return [...dims.slice(0, -3), this.height, this.width, dims.at(-1) ?? null];
  };
}

/** Lets layers leave their input's shape as it is. Those of stock TensorFlow.js write the output's shape into it. */
function copyShapes(): void {
  for (const each of [layers.categoryEncoding({ numTokens: 1 }), layers.centerCrop({ height: 1, width: 1 })]) {
    const prototype = Object.getPrototypeOf(each) as layers.Layer;
    const { computeOutputShape } = prototype;
    prototype.computeOutputShape = function (this: layers.Layer, shape) {
      const dims = (Array.isArray(shape[0]) ? shape[0] : shape) as (number | null)[];
      return computeOutputShape.call(this, [...dims]);
    };
  }
}

/** Classes that stock TensorFlow.js has, but cannot run in every model. */
export const repairedClasses: ReadonlySet<string> = new Set(["Resizing", "CategoryEncoding", "CenterCrop"]);
