/** Completes TensorFlow.js's own classes where a topology loses something, so that a model can be rebuilt from it. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

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
}

/** A topology is read with names in camel case, so the activation's class is found by this name too. */
function nameGelu(): void {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  const found = classNameMap[unreadActivation];
  if (found) classNameMap["geluNew"] = found;
}
