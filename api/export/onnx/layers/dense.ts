import { type NetworkLayer, type NetworkWeight, unsupportedLayer } from "../../../../core/export";
import { type GraphBuilder, Value } from "../builder";

export interface Conversion {
  readonly builder: GraphBuilder;
  readonly layer: NetworkLayer;
  readonly inputs: readonly Value[];
  /** Mask of each input, see `maskOf` in `sequences.ts`. */
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

export function only({ inputs }: Conversion): Value {
  return inputs[0]!;
}

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

type Elementwise = (builder: GraphBuilder, x: string) => string;

/** Element-wise activations. Formulas and constants are TensorFlow.js's (`tfjs-layers/src/activations.ts`). */
const elementwise: Readonly<Record<string, Elementwise>> = {
  linear: (_builder, x) => x,
  relu: (builder, x) => builder.add("Relu", [x]),
  relu6: (builder, x) => clipped(builder, x, 0, 6),
  elu: (builder, x) => builder.add("Elu", [x], { alpha: { float: 1 } }),
  selu: (builder, x) => builder.add("Selu", [x]),
  tanh: (builder, x) => builder.add("Tanh", [x]),
  sigmoid: (builder, x) => builder.add("Sigmoid", [x]),
  hardSigmoid: (builder, x) => builder.add("HardSigmoid", [x], { alpha: { float: 0.2 }, beta: { float: 0.5 } }),
  softplus: (builder, x) => builder.add("Softplus", [x]),
  softsign: (builder, x) => builder.add("Softsign", [x]),
  swish: (builder, x) => builder.add("Mul", [x, builder.add("Sigmoid", [x])]),
  mish: (builder, x) => builder.add("Mul", [x, builder.add("Tanh", [builder.add("Softplus", [x])])]),
  gelu: (builder, x) => {
    const scaled = builder.add("Mul", [x, builder.floats([Math.SQRT1_2], [])]);
    return halfOf(builder, x, builder.add("Erf", [scaled]));
  },
  gelu_new: (builder, x) => {
    const cube = builder.add("Mul", [x, builder.add("Mul", [x, x])]);
    const bent = builder.add("Add", [x, builder.add("Mul", [cube, builder.floats([0.044715], [])])]);
    return halfOf(
      builder,
      x,
      builder.add("Tanh", [builder.add("Mul", [bent, builder.floats([Math.sqrt(2 / Math.PI)], [])])]),
    );
  },
};

/** Computes `x (1 + y) / 2`. */
function halfOf(builder: GraphBuilder, x: string, y: string): string {
  const half = builder.add("Mul", [x, builder.floats([0.5], [])]);
  return builder.add("Mul", [half, builder.add("Add", [y, builder.floats([1], [])])]);
}

function clipped(builder: GraphBuilder, x: string, from: number, to: number): string {
  return builder.add("Clip", [x, builder.floats([from], []), builder.floats([to], [])]);
}

/** Activations along the last axis. */
const alongChannels: Readonly<Record<string, string>> = { softmax: "Softmax", logSoftmax: "LogSoftmax" };

export function activated(conversion: Conversion, value: Value): Value {
  const given = (conversion.layer.config["activation"] ?? "linear") as string | { readonly className: string };
  return applied(conversion, value, typeof given === "string" ? given : given.className);
}

/** Applies an activation by TensorFlow.js's name. @throws EXPORT_UNSUPPORTED */
export function applied(conversion: Conversion, value: Value, name: string): Value {
  const { builder } = conversion;
  const each = Object.hasOwn(elementwise, name) ? elementwise[name] : undefined;
  if (each) return name === "linear" ? value : value.map((x) => each(builder, x));
  const op = Object.hasOwn(alongChannels, name) ? alongChannels[name] : undefined;
  if (op === undefined) return unsupported(conversion, `its activation '${name}' is not supported`);
  return new Value(builder, value.shape, { last: builder.add(op, [value.last], { axis: { int: -1 } }) });
}

export const activationLayers: Readonly<Record<string, Converter>> = {
  Activation: (conversion) => activated(conversion, only(conversion)),
  ReLU(conversion) {
    const { builder, layer } = conversion;
    const largest = layer.config["maxValue"];
    return only(conversion).map((x) =>
      typeof largest === "number" ? clipped(builder, x, 0, largest) : builder.add("Relu", [x]),
    );
  },
  LeakyReLU: withAlpha("LeakyRelu", 0.3),
  ELU: withAlpha("Elu", 1),
  ThresholdedReLU(conversion) {
    const alpha = numberOf(conversion, "theta", 1);
    return only(conversion).map((x) => conversion.builder.add("ThresholdedRelu", [x], { alpha: { float: alpha } }));
  },
  PReLU(conversion) {
    const { builder, layer } = conversion;
    const { name, shape, data } = layer.weights["alpha"]!;
    return channelsLast(conversion, builder.add("PRelu", [only(conversion).last, builder.floats(data, shape, name)]));
  },
  Softmax(conversion) {
    const axis = numberOf(conversion, "axis", -1);
    return channelsLast(
      conversion,
      conversion.builder.add("Softmax", [only(conversion).last], { axis: { int: axis } }),
    );
  },
};

function withAlpha(op: string, otherwise: number): Converter {
  return (conversion) => {
    const alpha = { float: numberOf(conversion, "alpha", otherwise) };
    return only(conversion).map((x) => conversion.builder.add(op, [x], { alpha }));
  };
}

export const denseLayers: Readonly<Record<string, Converter>> = {
  Dense(conversion) {
    const { builder, layer } = conversion;
    const product = builder.add("MatMul", [only(conversion).last, weight(conversion, "kernel")]);
    const sum = layer.weights["bias"] ? builder.add("Add", [product, weight(conversion, "bias")]) : product;
    return activated(conversion, channelsLast(conversion, sum));
  },

  /** A dense layer at each time step is one over the last axis. */
  TimeDistributed(conversion) {
    const { layer } = conversion;
    const inner = layer.config["layer"] as { readonly className: string; readonly config: NetworkLayer["config"] };
    if (inner.className !== "Dense") return unsupported(conversion, `the layer in it is ${inner.className}, not Dense`);
    return denseLayers["Dense"]!({ ...conversion, layer: { ...layer, config: inner.config } });
  },

  Embedding(conversion) {
    const { builder } = conversion;
    // TensorFlow.js truncates indices to whole numbers.
    const indices = builder.add("Cast", [only(conversion).last], { to: { int: 7 } });
    return channelsLast(conversion, builder.add("Gather", [weight(conversion, "embeddings"), indices]));
  },

  BatchNormalization(conversion) {
    const { builder, layer } = conversion;
    const value = only(conversion);
    const { gamma, beta, moving_mean: mean, moving_variance: variance } = layer.weights;
    const epsilon = numberOf(conversion, "epsilon", 1e-3);
    // One product and one sum: γ (x − μ) / √(σ² + ε) + β.
    const scale = variance!.data.map((each, i) => (gamma?.data[i] ?? 1) / Math.sqrt(each + epsilon));
    const shift = scale.map((each, i) => (beta?.data[i] ?? 0) - mean!.data[i]! * each);
    checkLastAxis(conversion);
    const dims = [scale.length];
    const scaled = builder.add("Mul", [value.last, builder.floats(scale, dims, `${layer.name}/scale`)]);
    return channelsLast(conversion, builder.add("Add", [scaled, builder.floats(shift, dims, `${layer.name}/shift`)]));
  },

  LayerNormalization(conversion) {
    const { builder, layer } = conversion;
    const value = only(conversion);
    checkLastAxis(conversion);
    const size = value.shape.at(-1)!;
    const { gamma, beta } = layer.weights;
    const inputs = [
      value.last,
      gamma ? weight(conversion, "gamma") : builder.floats(new Float32Array(size).fill(1)),
      ...(beta ? [weight(conversion, "beta")] : []),
    ];
    const epsilon = { float: numberOf(conversion, "epsilon", 1e-3) };
    return channelsLast(conversion, builder.add("LayerNormalization", inputs, { axis: { int: -1 }, epsilon }));
  },

  Rescaling(conversion) {
    const { builder } = conversion;
    const scale = builder.floats([numberOf(conversion, "scale", 1)], []);
    const offset = builder.floats([numberOf(conversion, "offset", 0)], []);
    return only(conversion).map((x) => builder.add("Add", [builder.add("Mul", [x, scale]), offset]));
  },
};

/** Adds a weight. A layer that is applied twice shares it. */
export function weight(conversion: Conversion, name: string): string {
  const { name: whole, shape, data }: NetworkWeight = conversion.layer.weights[name]!;
  return conversion.builder.floats(data, shape, whole);
}

/** TensorFlow.js's WebAssembly kernel is correct only along the last axis. */
function checkLastAxis(conversion: Conversion): void {
  const given = conversion.layer.config["axis"] ?? -1;
  const axes = (Array.isArray(given) ? given : [given]) as readonly number[];
  const last = only(conversion).shape.length;
  if (axes.length !== 1 || (axes[0] !== -1 && axes[0] !== last))
    unsupported(conversion, `it normalises axis ${axes.join(", ")}, and only the last is supported`);
}
