import type { NetworkWeight } from "../../../../core/export";
import { range, Value } from "../builder";
import {
  activated,
  type Conversion,
  type Converter,
  channelsFirst,
  channelsLast,
  only,
  perAxis,
  unsupported,
  weight,
} from "./dense";

export const spatialLayers: Readonly<Record<string, Converter>> = {
  Conv1D: (conversion) => convolution(conversion, 1),
  Conv2D: (conversion) => convolution(conversion, 2),
  Conv3D: (conversion) => convolution(conversion, 3),

  /** As TensorFlow, the gradient of a convolution from an image of this size times the strides, or larger with `valid`. */
  Conv2DTranspose(conversion) {
    const { builder, layer } = conversion;
    checkChannelsLast(conversion);
    const { shape, data } = layer.weights["kernel"]!;
    const [height, width, outputs, inputs] = shape as readonly [number, number, number, number];
    const window = [height, width];
    const kernel = outputFirst({ name: "", shape: [height, width, outputs, inputs], data });
    const strides = perAxis(conversion, "strides", 2);
    const isSame = layer.config["padding"] === "same";
    const totals = window.map((size, axis) => (isSame ? Math.max(0, size - strides[axis]!) : 0));
    const begins = totals.map((total) => Math.floor(total / 2));
    const from = [only(conversion).first, builder.floats(kernel.data, kernel.shape), ...biasOf(conversion)];
    const product = builder.add("ConvTranspose", from, {
      kernel_shape: { ints: window },
      strides: { ints: strides },
      pads: { ints: [...begins, ...totals.map((total, axis) => total - begins[axis]!)] },
      output_padding: { ints: window.map((size, axis) => Math.max(0, strides[axis]! - size)) },
    });
    return activated(conversion, channelsFirst(conversion, product));
  },

  DepthwiseConv2D(conversion) {
    const kernel = depthwiseKernel(conversion);
    const groups = only(conversion).shape[2]!;
    return activated(
      conversion,
      channelsFirst(conversion, slide(conversion, kernel, kernel.shape.slice(2), { groups, bias: true })),
    );
  },

  SeparableConv2D(conversion) {
    const { builder } = conversion;
    const kernel = depthwiseKernel(conversion);
    const groups = only(conversion).shape[2]!;
    const each = slide(conversion, kernel, kernel.shape.slice(2), { groups, bias: false });
    const points = outputFirst(conversion.layer.weights["pointwise_kernel"]!);
    const inputs = [each, builder.floats(points.data, points.shape), ...biasOf(conversion)];
    return activated(conversion, channelsFirst(conversion, builder.add("Conv", inputs)));
  },

  MaxPooling1D: (conversion) => pooling(conversion, 1, "MaxPool"),
  MaxPooling2D: (conversion) => pooling(conversion, 2, "MaxPool"),
  MaxPooling3D: (conversion) => pooling(conversion, 3, "MaxPool"),
  AveragePooling1D: (conversion) => pooling(conversion, 1, "AveragePool"),
  AveragePooling2D: (conversion) => pooling(conversion, 2, "AveragePool"),
  AveragePooling3D: (conversion) => pooling(conversion, 3, "AveragePool"),
  GlobalMaxPooling1D: (conversion) => overall(conversion, "ReduceMax"),
  GlobalMaxPooling2D: (conversion) => overall(conversion, "ReduceMax"),
  GlobalAveragePooling1D: (conversion) => overall(conversion, "ReduceMean"),
  GlobalAveragePooling2D: (conversion) => overall(conversion, "ReduceMean"),
};

function convolution(conversion: Conversion, axes: number): ReturnType<Converter> {
  const kernel = outputFirst(conversion.layer.weights["kernel"]!);
  const window = kernel.shape.slice(2, 2 + axes);
  const from = conversion.layer.config["padding"] === "causal" ? causal(conversion, window[0]!) : conversion;
  return activated(conversion, channelsFirst(conversion, slide(from, kernel, window, { groups: 1, bias: true })));
}

/** Adds zeros before a series, so that no output depends on a later input. */
function causal(conversion: Conversion, window: number): Conversion {
  const { builder, layer } = conversion;
  const { shape, first } = only(conversion);
  const [length, channels] = shape as readonly [number, number];
  const [dilation] = perAxis(conversion, "dilationRate", 1) as [number];
  const zeros = (window - 1) * dilation;
  const padded = builder.add("Pad", [first, builder.integers([0, 0, zeros, 0, 0, 0])]);
  const input = new Value(builder, [length + zeros, channels], { first: padded });
  return { ...conversion, layer: { ...layer, config: { ...layer.config, padding: "valid" } }, inputs: [input] };
}

function slide(
  conversion: Conversion,
  kernel: Pick<NetworkWeight, "shape" | "data">,
  window: readonly number[],
  { groups, bias }: { readonly groups: number; readonly bias: boolean },
): string {
  const { builder } = conversion;
  checkChannelsLast(conversion);
  const value = only(conversion);
  const strides = perAxis(conversion, "strides", window.length);
  const dilations = perAxis(conversion, "dilationRate", window.length);
  const inputs = [value.first, builder.floats(kernel.data, kernel.shape), ...(bias ? biasOf(conversion) : [])];
  return builder.add("Conv", inputs, {
    kernel_shape: { ints: window },
    strides: { ints: strides },
    dilations: { ints: dilations },
    pads: { ints: padding(conversion, value.shape, window, strides, dilations) },
    group: { int: groups },
  });
}

function pooling(conversion: Conversion, axes: number, op: "MaxPool" | "AveragePool"): ReturnType<Converter> {
  checkChannelsLast(conversion);
  const value = only(conversion);
  const window = perAxis(conversion, "poolSize", axes);
  const strides = perAxis(conversion, "strides", axes, window[0]);
  const pads = padding(conversion, value.shape, window, strides, perAxis(conversion, "", axes));
  const attributes = { kernel_shape: { ints: window }, strides: { ints: strides }, pads: { ints: pads } };
  // Padding is not part of the average: `count_include_pad` is 0 by default.
  return channelsFirst(conversion, conversion.builder.add(op, [value.first], attributes));
}

function overall(conversion: Conversion, op: "ReduceMax" | "ReduceMean"): ReturnType<Converter> {
  checkChannelsLast(conversion);
  const value = only(conversion);
  const axes = { ints: range(1, value.shape.length) };
  return channelsLast(conversion, conversion.builder.add(op, [value.last], { axes, keepdims: { int: 0 } }));
}

/** Returns all starts, then all ends. `same` gives ⌈size / stride⌉ outputs and pads the end by the odd one. */
function padding(
  conversion: Conversion,
  shape: readonly number[],
  window: readonly number[],
  strides: readonly number[],
  dilations: readonly number[],
): readonly number[] {
  const kind = conversion.layer.config["padding"] ?? "valid";
  if (kind === "valid") return window.flatMap(() => [0, 0]);
  if (kind !== "same")
    return unsupported(
      conversion,
      `its padding is '${kind}', and only valid, same and causal (of a series) are supported`,
    );
  const totals = window.map((width, axis) => {
    const [size, stride] = [shape[axis]!, strides[axis]!];
    return Math.max(0, (Math.ceil(size / stride) - 1) * stride + (width - 1) * dilations[axis]! + 1 - size);
  });
  const begins = totals.map((total) => Math.floor(total / 2));
  return [...begins, ...totals.map((total, axis) => total - begins[axis]!)];
}

function checkChannelsLast(conversion: Conversion): void {
  if ((conversion.layer.config["dataFormat"] ?? "channelsLast") !== "channelsLast")
    unsupported(conversion, "its dataFormat is channelsFirst, and only channelsLast is supported");
}

function biasOf(conversion: Conversion): readonly string[] {
  return conversion.layer.weights["bias"] ? [weight(conversion, "bias")] : [];
}

/** Transposes `[…window, in, out]` to `[out, in, …window]`. */
function outputFirst({ shape, data }: NetworkWeight): Pick<NetworkWeight, "shape" | "data"> {
  const [inputs, outputs] = [shape.at(-2)!, shape.at(-1)!];
  const window = shape.slice(0, -2);
  const positions = window.reduce((product, side) => product * side, 1);
  const turned = new Float32Array(data.length);
  for (let position = 0; position < positions; position += 1) {
    for (let i = 0; i < inputs; i += 1) {
      for (let o = 0; o < outputs; o += 1) {
        turned[(o * inputs + i) * positions + position] = data[(position * inputs + i) * outputs + o]!;
      }
    }
  }
  return { shape: [outputs, inputs, ...window], data: turned };
}

/**
 * Transposes `[height, width, in, multiplier]` to `[in · multiplier, 1, height, width]`: one group for each channel.
 */
function depthwiseKernel({ layer }: Conversion): Pick<NetworkWeight, "shape" | "data"> {
  const { shape, data } = layer.weights["depthwise_kernel"]!;
  const [height, width, inputs, multiplier] = shape as readonly [number, number, number, number];
  const { data: turned } = outputFirst({ name: "", shape: [height, width, 1, inputs * multiplier], data });
  return { shape: [inputs * multiplier, 1, height, width], data: turned };
}
