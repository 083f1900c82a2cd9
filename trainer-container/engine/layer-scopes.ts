/** Reports the ends of layers' calls, so that a recorded pass can be cut there. */
import type * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";

type Layer = LayersModel["layers"][number];

export interface ComputationObserver {
  /** Called when a layer has computed its outputs. */
  leaveLayer(name: string, outputs: readonly tf.Tensor[]): void;
}

let observer: ComputationObserver | undefined;

/** Calls `body`, which must be synchronous, and reports its layers. */
export function observing<T>(by: ComputationObserver, body: () => T): T {
  const outer = observer;
  observer = by;
  try {
    return body();
  } finally {
    observer = outer;
  }
}

/**
 * Makes a model's layers report their calls, including those of nested models.
 *
 * @param names by the layers' own names
 * @returns the reported names
 */
export function reportCalls(layers: readonly Layer[], names: ReadonlyMap<string, string>): readonly string[] {
  return layers.flatMap((layer) => {
    const { call } = layer;
    const name = names.get(layer.name) ?? layer.name;
    layer.call = (inputs, options) => {
      const outputs = call.call(layer, inputs, options);
      observer?.leaveLayer(name, Array.isArray(outputs) ? outputs : [outputs]);
      return outputs;
    };
    return [name, ...reportCalls((layer as { readonly layers?: readonly Layer[] }).layers ?? [], names)];
  });
}
