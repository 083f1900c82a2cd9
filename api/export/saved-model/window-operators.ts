import type { Attribute } from "../../../adapters/saved-model/graph-def";
import { unsupportedOperator } from "../../../core/export";
import { range } from "../onnx/builder";
import type { TensorValue } from "../onnx/file";
import {
  integer,
  integerList,
  type NodeBuilder,
  type Tensor,
  type Translation,
  type Translator,
  typeOf,
} from "./node-builder";

type FloatValue = Extract<TensorValue, { readonly type: "float" }>;

/**
 * Operators that slide a window. TensorFlow's kernels for the CPU have channels last. A series is an image of height 1.
 */
export const windowOperators: Readonly<Record<string, Translator>> = {
  Conv(translation) {
    const { builder, op, inputs, constants, attributes } = translation;
    const kernel = constants[1];
    if (kernel?.type !== "float") throw unsupportedOperator(op, "its kernel is not constant");
    const window = windowOf(translation, kernel.dims.length - 2);
    const groups = integer(attributes["group"], 1);
    return window.around(inputs[0]!, (x) => {
      const product = groups === 1 ? convolve(builder, x, kernel, window) : depthwise(translation, x, kernel, window);
      return inputs[2] ? builder.plain("BiasAdd", [product, inputs[2]]) : product;
    });
  },

  ConvTranspose(translation) {
    const { builder, op, inputs, constants, attributes } = translation;
    const kernel = constants[1];
    if (kernel?.type !== "float") throw unsupportedOperator(op, "its kernel is not constant");
    const window = windowOf(translation, 2);
    const { data, dims } = channelsLast(kernel);
    const [height, width, outputs] = dims as readonly [number, number, number];
    const pads = integerList(attributes["pads"]) ?? [0, 0, 0, 0];
    const more = integerList(attributes["output_padding"]) ?? [0, 0];
    const added = [height, width].map(
      (size, axis) => size - window.strides[axis]! - pads[axis]! - pads[axis + 2]! + more[axis]!,
    );
    return window.around(inputs[0]!, (x) => {
      const scaled = builder.plain("Mul", [builder.shapeOf(x), wholes(builder, [1, ...window.strides, 0])]);
      const size = builder.plain("AddV2", [scaled, wholes(builder, [0, ...added, outputs])]);
      const int32 = builder.add("Cast", [size], "int32", { SrcT: typeOf("int64"), DstT: typeOf("int32") });
      const filter = builder.constant("float", data, dims);
      const product = builder.add("Conv2DBackpropInput", [int32, filter, x], "float", {
        ...window.shared,
        T: typeOf("float"),
      });
      return inputs[2] ? builder.plain("BiasAdd", [product, inputs[2]]) : product;
    });
  },

  MaxPool: (translation) => pool(translation, "MaxPool"),
  /** Padding is not part of the average in either library. */
  AveragePool: (translation) => pool(translation, "AvgPool"),

  /** Repeats each position. TensorFlow's own operator multiplies positions by a rounded scale. */
  Resize({ builder, op, inputs: [x], constants: [, , scales] }) {
    const [rows, channels, height, width] = scales?.type === "float" ? scales.data : [];
    if (rows !== 1 || channels !== 1 || !Number.isInteger(height) || !Number.isInteger(width))
      throw unsupportedOperator(op, "its scales are not whole numbers");
    const last = builder.transpose(x!, [0, 2, 3, 1]);
    const apart = builder.expandDims(builder.expandDims(last, 2), 4);
    const times = builder.integers([1, 1, height!, 1, width!, 1]);
    const repeated = builder.plain("Tile", [apart, times], { Tmultiples: typeOf("int32") });
    const factors = wholes(builder, [1, height!, width!, 1]);
    const shape = builder.plain("Mul", [builder.shapeOf(last), factors]);
    return builder.transpose(builder.reshape(repeated, shape), [0, 3, 1, 2]);
  },
};

interface Window {
  /** Attributes that convolutions and pooling share. */
  readonly shared: Readonly<Record<string, Attribute>>;
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
  /** Computes an operation with channels last, in two or three dimensions. */
  around(x: Tensor, compute: (x: Tensor) => Tensor): Tensor;
}

function windowOf({ builder, attributes }: Translation, axes: number): Window {
  const each = (name: string): readonly number[] => {
    const sizes = integerList(attributes[name]) ?? Array<number>(axes).fill(1);
    return axes === 1 ? [1, ...sizes] : sizes;
  };
  const strides = each("strides");
  // Pads come from TensorFlow.js's `same`, which has TensorFlow's rule (`layers/spatial.ts`).
  const padded = (integerList(attributes["pads"]) ?? []).some((pad) => pad > 0);
  return {
    shared: {
      strides: { kind: "ints", value: [1, ...strides, 1] },
      padding: { kind: "string", value: padded ? "SAME" : "VALID" },
    },
    strides,
    dilations: each("dilations"),
    around(x, compute) {
      const last = builder.transpose(x, [0, ...range(2, axes + 2), 1]);
      const result = axes === 1 ? squeeze(builder, compute(builder.expandDims(last, 1))) : compute(last);
      return builder.transpose(result, [0, axes + 1, ...range(1, axes + 1)]);
    },
  };
}

function wholes(builder: NodeBuilder, values: readonly number[]): Tensor {
  return builder.constant("int64", BigInt64Array.from(values, BigInt), [values.length]);
}

function squeeze(builder: NodeBuilder, x: Tensor): Tensor {
  return builder.plain("Squeeze", [x], { squeeze_dims: { kind: "ints", value: [1] } });
}

function convolve(builder: NodeBuilder, x: Tensor, kernel: FloatValue, { shared, dilations }: Window): Tensor {
  const { data, dims } = channelsLast(kernel);
  return builder.plain(dilations.length === 3 ? "Conv3D" : "Conv2D", [x, builder.constant("float", data, dims)], {
    ...shared,
    dilations: { kind: "ints", value: [1, ...dilations, 1] },
  });
}

/** TensorFlow's kernel for the CPU has one stride and no dilation; other windows are computed as a full convolution. */
function depthwise({ builder, op, attributes }: Translation, x: Tensor, kernel: FloatValue, window: Window): Tensor {
  const groups = integer(attributes["group"], 1);
  const [outputs, inputs, height, width] = kernel.dims as readonly [number, number, number, number];
  if (inputs !== 1 || kernel.dims.length !== 4) throw unsupportedOperator(op, "its groups have more than one channel");
  const { strides, dilations, shared } = window;
  if (strides[0] !== strides[1] || dilations.some((each) => each !== 1))
    return convolve(builder, x, withoutGroups(kernel, groups), window);
  const { data } = channelsLast(kernel);
  const filter = builder.constant("float", data, [height, width, groups, outputs / groups]);
  return builder.plain("DepthwiseConv2dNative", [x, filter], shared);
}

function pool(translation: Translation, op: "MaxPool" | "AvgPool"): Tensor {
  const { builder, inputs, attributes } = translation;
  const size = integerList(attributes["kernel_shape"])!;
  const window = windowOf(translation, size.length);
  const ksize = { kind: "ints", value: [1, ...(size.length === 1 ? [1] : []), ...size, 1] } as const;
  const name = size.length === 3 ? `${op}3D` : op;
  return window.around(inputs[0]!, (x) => builder.plain(name, [x], { ksize, ...window.shared }));
}

/** Transposes `[out, in, …window]` to `[height, width, in, out]`. */
function channelsLast({ data, dims }: FloatValue): FloatValue {
  const [outputs, inputs, ...window] = dims as readonly [number, number, ...number[]];
  const positions = window.reduce((product, side) => product * side, 1);
  const turned = new Float32Array(data.length);
  for (let o = 0; o < outputs; o += 1) {
    for (let i = 0; i < inputs; i += 1) {
      for (let position = 0; position < positions; position += 1)
        turned[(position * inputs + i) * outputs + o] = data[(o * inputs + i) * positions + position]!;
    }
  }
  return { type: "float", data: turned, dims: [...(window.length === 1 ? [1] : []), ...window, inputs, outputs] };
}

/** Expands a kernel of one channel a group to all channels, with 0 for those of other groups. */
function withoutGroups({ data, dims }: FloatValue, groups: number): FloatValue {
  const [outputs, , ...window] = dims as readonly [number, number, ...number[]];
  const positions = window.reduce((product, side) => product * side, 1);
  const whole = new Float32Array(outputs * groups * positions);
  for (let o = 0; o < outputs; o += 1) {
    const channel = Math.floor(o / (outputs / groups));
    whole.set(data.subarray(o * positions, (o + 1) * positions), (o * groups + channel) * positions);
  }
  return { type: "float", data: whole, dims: [outputs, groups, ...window] };
}
