/** Reports the ends of layers' calls, so that a recorded pass can be cut there, and errors can name the layer. */
import type * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";

type Layer = LayersModel["layers"][number];

export interface ComputationObserver {
  /** Called when a layer has computed its outputs. */
  leaveLayer(name: string, outputs: readonly tf.Tensor[]): void;
}

let observer: ComputationObserver | undefined;
/** Names of the innermost layers by what their calls threw. */
const throwers = new WeakMap<object, string>();

/** Returns the name of the innermost layer whose call threw the value, if one did. */
export const layerThatThrew = (thrown: unknown): string | undefined =>
  typeof thrown === "object" && thrown !== null ? throwers.get(thrown) : undefined;

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
      let outputs: ReturnType<typeof call>;
      try {
        outputs = call.call(layer, inputs, options);
      } catch (error) {
        if (typeof error === "object" && error !== null && !throwers.has(error)) throwers.set(error, name);
        throw error;
      }
      observer?.leaveLayer(name, Array.isArray(outputs) ? outputs : [outputs]);
      return outputs;
    };
    return [name, ...reportCalls((layer as { readonly layers?: readonly Layer[] }).layers ?? [], names)];
  });
}
