import { getBackend, util } from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { ModelError } from "./errors";
import { processMemory } from "./process-memory";
import { describeThrown, TimeLimitError } from "./user-code";

type AddWeight = layers.Layer["addWeight"];

/** WebAssembly's memory, in bytes. */
const wasmMemory = 2 ** 32;

/**
 * Builds a model, and names the weight that is too large to be created. A weight that memory cannot hold with those before it is
 * refused at once: its initial values would take minutes, or end the process.
 *
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
