import { type GradientFormat, packedLayout } from "../../core/training/narrow-format";
import { type Add, add } from "../collective/add";
import type { TrainableModel } from "../engine/engine";
import { addPacked, pack, unpack } from "../kernels/narrow";
import type { ScoreLayout } from "./score";

/**
 * The form in which leaves are summed. Their elements are the gradient of the trainable parameters, the running statistics'
 * part, and the score's sums. A narrow format packs only the gradient: the statistics are few, and the score has counts,
 * which must stay exact.
 */
export interface GradientWire {
  readonly format: GradientFormat;
  /** Number of float32 words of a summed vector. */
  readonly words: number;
  /** Addition of such vectors; undefined: float32. */
  readonly add: Add | undefined;
  /** @param scale multiplies the gradient, so that its small elements are in the format's range. */
  write(elements: Float32Array, scale: number, into: Float32Array): void;
  /** Reads the elements of a sum; the gradient is still scaled. */
  read(sum: Float32Array, into: Float32Array): void;
}

export function createGradientWire(
  format: GradientFormat,
  model: Pick<TrainableModel, "parameterCount" | "trainableCount">,
  layout: Pick<ScoreLayout, "length">,
): GradientWire {
  const elements = model.parameterCount + layout.length;
  if (format === "float32") {
    return {
      format,
      words: elements,
      add: undefined,
      write: (values, _scale, into) => into.set(values),
      read: (sum, into) => into.set(sum),
    };
  }
  const { narrow, exactFrom, words } = packedLayout(model.trainableCount, elements - model.trainableCount);
  return {
    format,
    words,
    add: (out, outAt, a, aAt, b, bAt, count, at) => {
      const packed = Math.max(0, Math.min(count, exactFrom - at));
      if (packed > 0) {
        const part = (values: Float32Array, start: number) => values.subarray(start, start + packed);
        addPacked(format, part(out, outAt), part(a, aAt), part(b, bAt));
      }
      if (packed < count) {
        add(out, outAt + packed, a, aAt + packed, b, bAt + packed, count - packed);
      }
    },
    write(values, scale, into) {
      pack(format, values.subarray(0, narrow), scale, into.subarray(0, exactFrom));
      into.set(values.subarray(narrow), exactFrom);
    },
    read(sum, into) {
      unpack(format, sum.subarray(0, exactFrom), into.subarray(0, narrow));
      into.set(sum.subarray(exactFrom), narrow);
    },
  };
}
