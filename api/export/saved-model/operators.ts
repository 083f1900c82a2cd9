import type { ElementType } from "../../../adapters/saved-model/graph-def";
import { unsupportedOperator } from "../../../core/export";
import { range } from "../onnx/builder";
import {
  constantIntegers,
  float,
  integer,
  integerList,
  type NodeBuilder,
  type Tensor,
  type Translator,
  textList,
  typeOf,
} from "./node-builder";
import { windowOperators } from "./window-operators";

/** TensorFlow's names of operators that compute each element from the inputs' elements at the same place. */
const elementwise: Readonly<Record<string, string>> = {
  Add: "AddV2",
  Sub: "Sub",
  Mul: "Mul",
  Max: "Maximum",
  Min: "Minimum",
  Floor: "Floor",
  Relu: "Relu",
  Selu: "Selu",
  Tanh: "Tanh",
  Sigmoid: "Sigmoid",
  Softplus: "Softplus",
  Softsign: "Softsign",
  Erf: "Erf",
  Sqrt: "Sqrt",
  Abs: "Abs",
  Log: "Log",
  Sin: "Sin",
};

/** ONNX's numbers of element types. */
const castTypes: Readonly<Record<number, ElementType>> = { 1: "float", 7: "int64", 11: "double" };

/** Translators by the name of ONNX's operator. The supported attributes are those that `api/export/onnx` sets. */
export const operators: Readonly<Record<string, Translator>> = {
  ...Object.fromEntries(
    Object.entries(elementwise).map(([op, name]): [string, Translator] => [
      op,
      ({ builder, inputs }) => builder.elementwise(inputs, (each) => builder.plain(name, each)),
    ]),
  ),
  ...windowOperators,

  Identity: ({ inputs }) => inputs[0]!,

  /** TensorFlow's graph optimizer replaces `RealDiv` by a constant with a product, which is below a whole quotient for some numbers. */
  Div({ builder, inputs, constants: [, divisor] }) {
    const isNumber = divisor?.type === "double" || divisor?.type === "float";
    const op = isNumber && divisor.data.every((value) => value !== 0) ? "DivNoNan" : "RealDiv";
    return builder.elementwise(inputs, (each) => builder.plain(op, each));
  },

  Cast({ builder, op, inputs, attributes }) {
    const type = castTypes[integer(attributes["to"], 0)];
    if (type === undefined) throw unsupportedOperator(op, "its type is not float, int64 or double");
    return builder.cast(inputs[0]!, type);
  },

  Where: ({ builder, inputs: [condition, yes, no] }) => builder.select(condition!, yes!, no!),

  IsNaN: ({ builder, inputs }) => builder.add("IsNan", inputs, "bool", { T: typeOf(inputs[0]!.type) }),

  Equal: ({ builder, inputs: [a, b] }) => builder.compare("Equal", a!, b!),

  Less: ({ builder, inputs: [a, b] }) => builder.compare("Less", a!, b!),

  Clip: ({ builder, inputs: [x, from, to] }) =>
    builder.elementwise([x!, from!, to!], ([each, low, high]) =>
      builder.plain("Minimum", [builder.plain("Maximum", [each!, low!]), high!]),
    ),

  HardSigmoid({ builder, inputs, attributes }) {
    const [alpha, beta] = [float(attributes["alpha"], 0.2), float(attributes["beta"], 0.5)];
    return builder.elementwise(inputs, ([x]) => {
      const line = builder.plain("AddV2", [builder.plain("Mul", [x!, builder.float(alpha)]), builder.float(beta)]);
      return builder.plain("Minimum", [builder.plain("Maximum", [line, builder.float(0)]), builder.float(1)]);
    });
  },

  LeakyRelu({ builder, inputs, attributes }) {
    const alpha = { kind: "float", value: float(attributes["alpha"], 0.01) } as const;
    return builder.elementwise(inputs, (each) => builder.plain("LeakyRelu", each, { alpha }));
  },

  Elu({ builder, op, inputs, attributes }) {
    if (float(attributes["alpha"], 1) !== 1) throw unsupportedOperator(op, "its alpha is not 1");
    return builder.elementwise(inputs, (each) => builder.plain("Elu", each));
  },

  ThresholdedRelu({ builder, inputs, attributes }) {
    const alpha = float(attributes["alpha"], 1);
    return builder.elementwise(inputs, ([x]) =>
      builder.select(builder.compare("Greater", x!, builder.float(alpha)), x!, builder.float(0)),
    );
  },

  PRelu({ builder, inputs: [x, slope] }) {
    const scaled = builder.plain("Mul", [x!, slope!]);
    return builder.select(builder.compare("Less", x!, builder.float(0)), scaled, x!);
  },

  Softmax({ builder, inputs: [x], attributes }) {
    const axis = integer(attributes["axis"], -1);
    if (axis === -1) return builder.add("Softmax", [x!], x!.type, { T: typeOf(x!.type) });
    const shifted = builder.plain("Sub", [x!, builder.reduce("Max", x!, [axis], true)]);
    const powers = builder.plain("Exp", [shifted]);
    return builder.plain("RealDiv", [powers, builder.reduce("Sum", powers, [axis], true)]);
  },

  LogSoftmax({ builder, op, inputs, attributes }) {
    if (integer(attributes["axis"], -1) !== -1) throw unsupportedOperator(op, "its axis is not the last");
    return builder.plain("LogSoftmax", inputs);
  },

  LayerNormalization({ builder, op, inputs: [x, gamma, beta], attributes }) {
    if (integer(attributes["axis"], -1) !== -1) throw unsupportedOperator(op, "its axis is not the last");
    const centred = builder.plain("Sub", [x!, builder.reduce("Mean", x!, [-1], true)]);
    const variance = builder.reduce("Mean", builder.plain("Square", [centred]), [-1], true);
    const epsilon = builder.float(float(attributes["epsilon"], 1e-5));
    const inverse = builder.plain("Rsqrt", [builder.plain("AddV2", [variance, epsilon])]);
    const scaled = builder.plain("Mul", [builder.plain("Mul", [centred, inverse]), gamma!]);
    return beta ? builder.plain("AddV2", [scaled, beta]) : scaled;
  },

  MatMul: ({ builder, inputs }) => builder.plain("BatchMatMulV2", inputs),

  ArgMax({ builder, inputs: [x], attributes }) {
    const axis = builder.integers([integer(attributes["axis"], 0)], []);
    return argMax(builder, x!, axis);
  },

  Gather({ builder, inputs: [table, indices], attributes }) {
    const axis = builder.integers([integer(attributes["axis"], 0)], []);
    return builder.add("GatherV2", [table!, indices!, axis], table!.type, {
      Tparams: typeOf(table!.type),
      Tindices: typeOf(indices!.type),
      Taxis: typeOf("int32"),
    });
  },

  Concat({ builder, inputs, attributes }) {
    const axis = builder.integers([integer(attributes["axis"], 0)], []);
    return concat(builder, inputs, axis);
  },

  Shape: ({ builder, inputs }) => builder.shapeOf(inputs[0]!),

  Expand: ({ builder, inputs: [x, shape] }) =>
    builder.plain("BroadcastTo", [x!, shape!], { Tidx: typeOf(shape!.type) }),

  /** A size of 0 is that of the input at the same axis. TensorFlow has no such sign. */
  Reshape({ builder, op, inputs: [x], constants: [, target] }) {
    const sizes = constantIntegers(op, target);
    const copied = sizes.filter((size) => size === 0).length;
    if (copied > 1 || (copied === 1 && sizes[0] !== 0))
      throw unsupportedOperator(op, "it copies another size than the first");
    if (copied === 1 && !sizes.includes(-1)) return builder.reshape(x!, builder.integers([-1, ...sizes.slice(1)]));
    if (copied === 0) return builder.reshape(x!, builder.integers(sizes));
    const first = slice(builder, builder.shapeOf(x!), [{ axis: 0, from: 0, to: 1 }]);
    const rest = builder.constant("int64", BigInt64Array.from(sizes.slice(1), BigInt), [sizes.length - 1]);
    return builder.reshape(x!, concat(builder, [first, rest], builder.integers([0], [])));
  },

  Transpose({ builder, inputs, attributes }) {
    return builder.transpose(inputs[0]!, integerList(attributes["perm"])!);
  },

  Tile: ({ builder, inputs: [x, times] }) => builder.plain("Tile", [x!, times!], { Tmultiples: typeOf(times!.type) }),

  Pad({ builder, op, inputs: [x], constants: [, pads] }) {
    const edges = constantIntegers(op, pads);
    const rank = edges.length / 2;
    const paddings = range(0, rank).flatMap((axis) => [edges[axis]!, edges[rank + axis]!]);
    return builder.plain("Pad", [x!, builder.integers(paddings, [rank, 2])], { Tpaddings: typeOf("int32") });
  },

  Slice({ builder, op, inputs: [x], constants: [, from, to, axes] }) {
    const [starts, ends] = [constantIntegers(op, from), constantIntegers(op, to)];
    const parts = constantIntegers(op, axes).map((axis, i) => ({ axis, from: starts[i]!, to: ends[i]! }));
    return slice(builder, x!, parts);
  },

  ReduceSum: ({ builder, op, inputs: [x], constants: [, axes] }) =>
    builder.reduce("Sum", x!, constantIntegers(op, axes), true),

  ReduceMax: ({ builder, inputs: [x], attributes }) =>
    builder.reduce("Max", x!, integerList(attributes["axes"])!, integer(attributes["keepdims"], 1) === 1),

  ReduceMean: ({ builder, inputs: [x], attributes }) =>
    builder.reduce("Mean", x!, integerList(attributes["axes"])!, integer(attributes["keepdims"], 1) === 1),

  /** Finds each text among the keys: the first equal one, or the default. */
  LabelEncoder({ builder, inputs: [x], attributes }) {
    const keys = textList(attributes["keys_strings"]);
    const equal = builder.compare("Equal", builder.expandDims(x!, -1), builder.texts(keys, [keys.length]));
    const last = builder.integers([-1], []);
    const index = argMax(builder, builder.cast(equal, "int32"), last);
    const values = integerList(attributes["values_int64s"])!;
    const codes = builder.constant("int64", BigInt64Array.from(values, BigInt), [values.length]);
    const types = { Tparams: typeOf("int64"), Tindices: typeOf("int64"), Taxis: typeOf("int32") };
    const code = builder.add("GatherV2", [codes, index, builder.integers([0], [])], "int64", types);
    const isKnown = builder.add("Any", [equal, last], "bool", { Tidx: typeOf("int32") });
    const otherwise = BigInt64Array.of(BigInt(integer(attributes["default_int64"], -1)));
    return builder.select(isKnown, code, builder.constant("int64", otherwise, []));
  },
};

function argMax(builder: NodeBuilder, x: Tensor, axis: Tensor): Tensor {
  const attributes = { T: typeOf(x.type), Tidx: typeOf("int32"), output_type: typeOf("int64") };
  return builder.add("ArgMax", [x, axis], "int64", attributes);
}

function concat(builder: NodeBuilder, inputs: readonly Tensor[], axis: Tensor): Tensor {
  const attributes = { N: { kind: "int", value: inputs.length }, Tidx: typeOf("int32") } as const;
  return builder.plain("ConcatV2", [...inputs, axis], attributes);
}

/** Takes `[from, to)` of some axes, and all of the others. */
function slice(
  builder: NodeBuilder,
  x: Tensor,
  parts: readonly { readonly axis: number; readonly from: number; readonly to: number }[],
): Tensor {
  const axes = range(0, Math.max(...parts.map(({ axis }) => axis)) + 1).map((axis) =>
    parts.find((part) => part.axis === axis),
  );
  // A bit of the mask means: the whole axis.
  const mask = { kind: "int", value: axes.reduce((bits, part, i) => (part ? bits : bits | (1 << i)), 0) } as const;
  const inputs = [
    x,
    builder.integers(axes.map((part) => part?.from ?? 0)),
    builder.integers(axes.map((part) => part?.to ?? 0)),
    builder.integers(axes.map(() => 1)),
  ];
  return builder.plain("StridedSlice", inputs, { Index: typeOf("int32"), begin_mask: mask, end_mask: mask });
}
