import type { GraphBuilder } from "../builder";
import { Value } from "../value";
import { type Conversion, type Converter, channelsLast, numberOf, only, unsupported } from "./convert";

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

/** Applies the activation of a layer's configuration to the layer's output. */
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

/** Layers that consist of an activation. */
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
