/** Completes TensorFlow.js's own classes where a topology loses something, or a layer fails within a model. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { joinMasks } from "./merge-masks";

interface SeparableConvolution {
  readonly depthMultiplier: number;
  getConfig(): tf.serialization.ConfigDict;
}

/** The activation whose name stock TensorFlow.js writes to a topology and cannot read. */
export const unreadActivation = "gelu_new";

let completed = false;

/** Completes the classes of this process, once. */
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
  const found = classNameMap[unreadActivation];
  if (found) classNameMap["geluNew"] = found;
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
    const given = (Array.isArray(shape[0]) ? shape[0] : shape) as (number | null)[];
    return [...given.slice(0, -3), this.height, this.width, given.at(-1) ?? null];
  };
}

/** Lets layers leave their input's shape as it is. Those of stock TensorFlow.js write the output's shape into it. */
function copyShapes(): void {
  for (const each of [layers.categoryEncoding({ numTokens: 1 }), layers.centerCrop({ height: 1, width: 1 })]) {
    const prototype = Object.getPrototypeOf(each) as layers.Layer;
    const { computeOutputShape } = prototype;
    prototype.computeOutputShape = function (this: layers.Layer, shape) {
      const given = (Array.isArray(shape[0]) ? shape[0] : shape) as (number | null)[];
      return computeOutputShape.call(this, [...given]);
    };
  }
}

/** Classes that stock TensorFlow.js has, but cannot run in every model. */
export const repairedClasses: ReadonlySet<string> = new Set(["Resizing", "CategoryEncoding", "CenterCrop"]);
