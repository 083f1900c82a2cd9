/**
 * Masks of layers with several inputs: a step counts where the mask of each input has it, as in Keras 2. Stock TensorFlow.js
 * leaves out the last mask, and its result has a rank that recurrent layers refuse.
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
export function joinMasks(): void {
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
      const given = masks.map((mask: Mask, i) => mask ?? tf.ones([inputs].flat()[i]!.shape.slice(0, -1), "bool"));
      return computeMask.call(this, inputs, given) as tf.Tensor;
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
    const given = layer.inputs.map((input) => makers.get(input) ?? []);
    const before = given.flat();
    const joins = before.length > 0 && (elementwise.has(className) || fillsMask(layer, given));
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
