import { type NetworkLayer, unsupportedLayer } from "../../../../core/export";
import type { GraphBuilder } from "../builder";
import { Value } from "../value";

/** A layer to be converted, and its inputs. */
export interface Conversion {
  readonly builder: GraphBuilder;
  readonly layer: NetworkLayer;
  readonly inputs: readonly Value[];
  /** Mask of each input, see `masks.ts`. */
  readonly masks: readonly (string | undefined)[];
}

export type Converter = (conversion: Conversion) => Value;

/** Refuses a layer. @throws EXPORT_UNSUPPORTED with `why` as the reason, e.g. `its padding is …` */
export function unsupported({ layer }: Conversion, why: string): never {
  throw unsupportedLayer(layer, why);
}

/** Wraps a layer's output whose axes are in TensorFlow.js's order. */
export function channelsLast({ builder, layer }: Conversion, last: string): Value {
  return new Value(builder, layer.outputShape, { last });
}

/** Wraps a layer's output whose channels precede its positions, as in ONNX. */
export function channelsFirst({ builder, layer }: Conversion, first: string): Value {
  return new Value(builder, layer.outputShape, { first });
}

/** Returns the layer's only input. */
export function only({ inputs }: Conversion): Value {
  return inputs[0]!;
}

/** Reads a number of the configuration, or `otherwise` if it has none. */
export function numberOf({ layer }: Conversion, field: string, otherwise: number): number {
  const value = layer.config[field];
  return typeof value === "number" ? value : otherwise;
}

/** Reads a number for each of `axes` axes: `2` means `[2, 2]`. */
export function perAxis({ layer }: Conversion, field: string, axes: number, otherwise = 1): readonly number[] {
  const value = layer.config[field] ?? otherwise;
  const list = (Array.isArray(value) ? value : [value]) as readonly number[];
  return list.length === axes ? list : Array.from({ length: axes }, () => list[0]!);
}
