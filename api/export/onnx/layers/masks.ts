import { type Conversion, numberOf, only, unsupported } from "./convert";

/**
 * Returns the mask of a layer's output, or undefined: float `[rows, time, 1]`, 1 at the steps that later recurrent layers take and 0
 * at those that they omit. TensorFlow.js also passes masks on through layers that do not support them.
 */
export function maskOf(conversion: Conversion): string | undefined {
  const { builder, layer, masks, inputs } = conversion;
  if (layer.className === "Embedding" && layer.config["maskZero"] === true) {
    const ids = only(conversion);
    const column = builder.add("Reshape", [ids.last, builder.integers([0, ids.shape[0]!, 1])]);
    return isOther(conversion, column, 0);
  }
  if (layer.className === "Masking") return maskOfValues(conversion);
  const inner = layer.config["layer"] as { readonly config: typeof layer.config } | undefined;
  if ((inner?.config ?? layer.config)["returnSequences"] === false) return undefined;
  const given = new Set(masks);
  if (layer.className === "Concatenate") return maskOfConcatenation(conversion);
  if (elementwise.has(layer.className)) return masks[0] && product(conversion, given);
  if (inputs.length > 1 && given.size > 1) return unsupported(conversion, "it joins inputs that have different masks");
  return masks[0];
}

const elementwise: ReadonlySet<string> = new Set(["Add", "Average", "Maximum", "Minimum", "Multiply"]);

/** Returns 1 where each of the masks is 1. */
function product({ builder }: Conversion, masks: Iterable<string | undefined>): string | undefined {
  const given = [...masks].filter((mask) => mask !== undefined);
  return given.length === 0 ? undefined : given.reduce((all, mask) => builder.add("Mul", [all, mask]));
}

function maskOfConcatenation(conversion: Conversion): string | undefined {
  const { builder, layer, masks } = conversion;
  const axis = numberOf(conversion, "axis", -1);
  const given = masks.filter((mask) => mask !== undefined);
  if (given.length === 0 || axis === -1 || axis === layer.outputShape.length)
    return product(conversion, new Set(given));
  if (axis !== 1 || given.length < masks.length)
    return unsupported(conversion, "it joins inputs with and without masks along another axis than the last");
  return builder.add("Concat", given, { axis: { int: 1 } });
}

/** Returns the mask of the layer Masking: the steps at which a feature is not the masked value. */
export function maskOfValues(conversion: Conversion): string {
  const others = isOther(conversion, only(conversion).last, numberOf(conversion, "maskValue", 0));
  return conversion.builder.add("ReduceMax", [others], { axes: { ints: [-1] }, keepdims: { int: 1 } });
}

/** Returns 1 where the elements are not `value`, otherwise 0. */
function isOther({ builder }: Conversion, x: string, value: number): string {
  const equal = builder.add("Cast", [builder.add("Equal", [x, builder.floats([value], [])])], { to: { int: 1 } });
  return builder.add("Sub", [builder.floats([1], []), equal]);
}
