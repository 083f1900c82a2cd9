import type { NetworkLayer, NetworkWeight } from "../../../../core/export";
import { activated } from "./activations";
import { type Conversion, type Converter, channelsLast, numberOf, only, unsupported } from "./convert";

/** Layers whose weights apply to the last axis, or that look up a table. */
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
