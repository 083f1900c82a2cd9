import {
  causalMask,
  hiddenScore,
  sinusoidalPositions,
} from "../../../../trainer-container/tfjs/layers/sequence-constants";
import { applied, type Conversion, type Converter, channelsLast, numberOf, only, unsupported, weight } from "./dense";

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
  const sets = new Set(masks);
  if (layer.className === "Concatenate") return maskOfConcatenation(conversion);
  if (elementwise.has(layer.className)) return masks[0] && product(conversion, sets);
  if (inputs.length > 1 && sets.size > 1) return unsupported(conversion, "it joins inputs that have different masks");
  return masks[0];
}

const elementwise: ReadonlySet<string> = new Set(["Add", "Average", "Maximum", "Minimum", "Multiply"]);

/** Returns 1 where each of the masks is 1. */
function product({ builder }: Conversion, masks: Iterable<string | undefined>): string | undefined {
  const present = [...masks].filter((mask) => mask !== undefined);
  return present.length === 0 ? undefined : present.reduce((all, mask) => builder.add("Mul", [all, mask]));
}

function maskOfConcatenation(conversion: Conversion): string | undefined {
  const { builder, layer, masks } = conversion;
  const axis = numberOf(conversion, "axis", -1);
  const present = masks.filter((mask) => mask !== undefined);
  if (present.length === 0 || axis === -1 || axis === layer.outputShape.length)
    return product(conversion, new Set(present));
  if (axis !== 1 || present.length < masks.length)
    return unsupported(conversion, "it joins inputs with and without masks along another axis than the last");
  return builder.add("Concat", present, { axis: { int: 1 } });
}

/** Returns the mask of the layer Masking: the steps at which a feature is not the masked value. */
function maskOfValues(conversion: Conversion): string {
  const others = isOther(conversion, only(conversion).last, numberOf(conversion, "maskValue", 0));
  return conversion.builder.add("ReduceMax", [others], { axes: { ints: [-1] }, keepdims: { int: 1 } });
}

/** Returns 1 where the elements are not `value`, otherwise 0. */
function isOther({ builder }: Conversion, x: string, value: number): string {
  const equal = builder.add("Cast", [builder.add("Equal", [x, builder.floats([value], [])])], { to: { int: 1 } });
  return builder.add("Sub", [builder.floats([1], []), equal]);
}

/** Returns `[rows, 1, 1, time]`: 0 at the steps of a mask, and a score that hides those that it omits. @param mask see `maskOf` */
function omittedScores({ builder }: Conversion, mask: string, time: number): string {
  const omitted = builder.add("Sub", [builder.floats([1], []), mask]);
  const byKey = builder.add("Reshape", [omitted, builder.integers([0, 1, 1, time])]);
  return builder.add("Mul", [byKey, builder.floats([hiddenScore], [])]);
}

export const sequenceLayers: Readonly<Record<string, Converter>> = {
  /** Queries, keys and values are three products here, because each has its own transposition. */
  MultiHeadAttention(conversion) {
    const { builder, layer } = conversion;
    const [heads, size] = [numberOf(conversion, "heads", 1), numberOf(conversion, "keySize", 1)];
    const [time] = only(conversion).shape as readonly [number, number];
    const project = (part: number, perm: readonly number[]): string => {
      const projected = partOfProjection(conversion, part, heads * size);
      const byHead = builder.add("Reshape", [projected, builder.integers([0, time, heads, size])]);
      return builder.add("Transpose", [byHead], { perm: { ints: perm } });
    };
    const scaled = builder.add("Mul", [project(0, [0, 2, 1, 3]), builder.floats([1 / Math.sqrt(size)], [])]);
    const products = builder.add("MatMul", [scaled, project(1, [0, 2, 3, 1])]);
    const causal = layer.config["causal"]
      ? builder.add("Add", [products, builder.floats(causalMask(time), [time, time])])
      : products;
    const [mask] = conversion.masks;
    const scores = mask === undefined ? causal : builder.add("Add", [causal, omittedScores(conversion, mask, time)]);
    const weights = builder.add("Softmax", [scores], { axis: { int: -1 } });
    const seen = builder.add("MatMul", [weights, project(2, [0, 2, 1, 3])]);
    const joined = builder.add("Transpose", [seen], { perm: { ints: [0, 2, 1, 3] } });
    const flat = builder.add("Reshape", [joined, builder.integers([0, time, heads * size])]);
    const product = builder.add("MatMul", [flat, weight(conversion, "output_kernel")]);
    const hasBias = layer.weights["output_bias"] !== undefined;
    const sum = hasBias ? builder.add("Add", [product, weight(conversion, "output_bias")]) : product;
    return channelsLast(conversion, sum);
  },

  PositionalEncoding(conversion) {
    const { builder } = conversion;
    const [time, features] = only(conversion).shape as readonly [number, number];
    const table = sinusoidalPositions(time, features, numberOf(conversion, "maxWavelength", 10_000));
    return plus(conversion, builder.floats(table, [time, features]));
  },

  PositionalEmbedding: (conversion) => plus(conversion, weight(conversion, "embeddings")),

  RmsNormalization(conversion) {
    const { builder } = conversion;
    const x = only(conversion).last;
    const mean = builder.add("ReduceMean", [builder.add("Mul", [x, x])], {
      axes: { ints: [-1] },
      keepdims: { int: 1 },
    });
    const epsilon = builder.floats([numberOf(conversion, "epsilon", 1e-6)], []);
    const root = builder.add("Sqrt", [builder.add("Add", [mean, epsilon])]);
    const normal = builder.add("Div", [x, root]);
    return channelsLast(conversion, builder.add("Mul", [normal, weight(conversion, "gamma")]));
  },

  Masking(conversion) {
    const product = conversion.builder.add("Mul", [only(conversion).last, maskOfValues(conversion)]);
    return channelsLast(conversion, product);
  },

  Gelu(conversion) {
    const name = conversion.layer.config["approximate"] === "tanh" ? "gelu_new" : "gelu";
    return applied(conversion, only(conversion), name);
  },

  SelectFeatures(conversion) {
    const { builder, layer } = conversion;
    const value = only(conversion);
    const columns = builder.integers(layer.config["columns"] as readonly number[]);
    const axis = { int: value.shape.length };
    return channelsLast(conversion, builder.add("Gather", [value.last, columns], { axis }));
  },
};

function plus(conversion: Conversion, addend: string): ReturnType<Converter> {
  return channelsLast(conversion, conversion.builder.add("Add", [only(conversion).last, addend]));
}

/** Computes queries (0), keys (1) or values (2): `width` columns of the layer's kernel. */
function partOfProjection(conversion: Conversion, part: number, width: number): string {
  const { builder, layer } = conversion;
  const { kernel, bias } = layer.weights;
  const kernelPart = columnsOf(kernel!.data, 3 * width, part * width, width);
  const product = builder.add("MatMul", [
    only(conversion).last,
    builder.floats(kernelPart, [kernel!.shape[0]!, width]),
  ]);
  if (!bias) return product;
  return builder.add("Add", [product, builder.floats(columnsOf(bias.data, 3 * width, part * width, width), [width])]);
}

export function columnsOf(data: Float32Array, width: number, from: number, count: number): Float32Array {
  const rows = data.length / width;
  const taken = new Float32Array(rows * count);
  for (let row = 0; row < rows; row += 1)
    taken.set(data.subarray(row * width + from, row * width + from + count), row * count);
  return taken;
}
