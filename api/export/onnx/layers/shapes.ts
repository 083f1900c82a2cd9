import type { GraphBuilder } from "../builder";
import {
  type Conversion,
  type Converter,
  channelsFirst,
  channelsLast,
  numberOf,
  only,
  perAxis,
  unsupported,
} from "./dense";

export const mergeLayers: Readonly<Record<string, Converter>> = {
  Add: elementwise("Add"),
  Multiply: elementwise("Mul"),
  Maximum: elementwise("Max"),
  Minimum: elementwise("Min"),

  Average(conversion) {
    const { builder, inputs } = conversion;
    const sum = elementwise("Add")(conversion);
    return sum.map((x) => builder.add("Mul", [x, builder.floats([1 / inputs.length], [])]));
  },

  /** Multiplies two inputs of one or two axes along an axis of each. */
  Dot(conversion) {
    const { builder, inputs, layer } = conversion;
    const axes = perAxis(conversion, "axes", 2);
    const [left, right] = inputs.map((value, side) => {
      const rank = value.shape.length;
      const axis = (axes[side]! + rank + 1) % (rank + 1);
      const vectors = layer.config["normalize"] === true ? unitVectors(builder, value.last, axis) : value.last;
      if (rank === 1) {
        const [length] = value.shape;
        return builder.add("Reshape", [vectors, builder.integers(side === 0 ? [0, 1, length!] : [0, length!, 1])]);
      }
      return axis === 2 - side ? vectors : builder.add("Transpose", [vectors], { perm: { ints: [0, 2, 1] } });
    });
    const shape = builder.integers([0, ...layer.outputShape]);
    return channelsLast(conversion, builder.add("Reshape", [builder.add("MatMul", [left!, right!]), shape]));
  },

  Concatenate(conversion) {
    const { builder, inputs } = conversion;
    const axis = { int: numberOf(conversion, "axis", -1) };
    return channelsLast(
      conversion,
      builder.add(
        "Concat",
        inputs.map((value) => value.last),
        { axis },
      ),
    );
  },
};

/** Divides by the length along an axis, which is at least √1e-7. */
function unitVectors(builder: GraphBuilder, x: string, axis: number): string {
  const squares = builder.add("ReduceSum", [builder.add("Mul", [x, x]), builder.integers([axis])]);
  const length = builder.add("Sqrt", [builder.add("Max", [squares, builder.floats([1e-7], [])])]);
  return builder.add("Div", [x, length]);
}

/** Joins inputs element by element. Axes of size 1 are broadcast, and axes that an input lacks precede its own. */
function elementwise(op: string): Converter {
  return (conversion) => {
    const { builder, inputs, layer } = conversion;
    const { outputShape } = layer;
    const names = inputs.map(({ last, shape }) => {
      const lacking = outputShape.length - shape.length;
      if (lacking < 0 || shape.some((size, axis) => size !== 1 && size !== outputShape[lacking + axis])) {
        unsupported(conversion, `an input [${shape}] cannot be broadcast to [${outputShape}]`);
      }
      if (lacking === 0) return last;
      return builder.add("Reshape", [last, builder.integers([0, ...Array<number>(lacking).fill(1), ...shape])]);
    });
    return channelsLast(
      conversion,
      names.slice(1).reduce((sum, name) => builder.add(op, [sum, name]), names[0]!),
    );
  };
}

export const shapeLayers: Readonly<Record<string, Converter>> = {
  Flatten: reshaped,
  Reshape: reshaped,

  Permute(conversion) {
    const dims = conversion.layer.config["dims"] as readonly number[];
    const perm = { ints: [0, ...dims] };
    return channelsLast(conversion, conversion.builder.add("Transpose", [only(conversion).last], { perm }));
  },

  RepeatVector(conversion) {
    const { builder, layer } = conversion;
    const [times, size] = layer.outputShape;
    const one = builder.add("Reshape", [only(conversion).last, builder.integers([0, 1, size!])]);
    return channelsLast(conversion, builder.add("Tile", [one, builder.integers([1, times!, 1])]));
  },

  ZeroPadding2D(conversion) {
    const { builder } = conversion;
    const [[top, bottom], [left, right]] = edges(conversion, "padding");
    const pads = builder.integers([0, 0, top, left, 0, 0, bottom, right]);
    return channelsFirst(conversion, builder.add("Pad", [only(conversion).first, pads]));
  },

  Cropping2D(conversion) {
    const { builder } = conversion;
    const value = only(conversion);
    const [height, width] = value.shape as readonly [number, number, number];
    const [[top, bottom], [left, right]] = edges(conversion, "cropping");
    const [from, to] = [builder.integers([top, left]), builder.integers([height - bottom, width - right])];
    return channelsFirst(conversion, builder.add("Slice", [value.first, from, to, builder.integers([2, 3])]));
  },

  UpSampling2D(conversion) {
    const { builder, layer } = conversion;
    if ((layer.config["interpolation"] ?? "nearest") !== "nearest") return resized(conversion, false);
    const scales = builder.floats([1, 1, ...perAxis(conversion, "size", 2, 2)]);
    return channelsFirst(
      conversion,
      builder.add("Resize", [only(conversion).first, "", scales], {
        mode: { text: "nearest" },
        coordinate_transformation_mode: { text: "asymmetric" },
        nearest_mode: { text: "floor" },
      }),
    );
  },

  Resizing: (conversion) => resized(conversion, conversion.layer.config["cropToAspectRatio"] !== true),

  // These layers act only in training.
  Dropout: only,
  SpatialDropout1D: only,
  AlphaDropout: only,
  GaussianDropout: only,
  GaussianNoise: only,
};

/** Interpolates images along both axes, each by a product with constant weights. */
function resized(conversion: Conversion, alignCorners: boolean): ReturnType<Converter> {
  const { builder, layer } = conversion;
  const value = only(conversion);
  const isNearest = layer.config["interpolation"] === "nearest";
  const [rows, columns] = [0, 1].map((axis) => {
    const [from, to] = [value.shape[axis]!, layer.outputShape[axis]!];
    return { weights: interpolation(from, to, alignCorners, isNearest), from, to };
  });
  const vertical = builder.floats(rows!.weights, [rows!.to, rows!.from]);
  const across = builder.floats(columns!.weights, [columns!.to, columns!.from]);
  const horizontal = builder.add("Transpose", [across], { perm: { ints: [1, 0] } });
  const product = builder.add("MatMul", [builder.add("MatMul", [vertical, value.first]), horizontal]);
  return channelsFirst(conversion, product);
}

/** Returns the weights `[to, from]` of the inputs of each output position. Positions are float32, as in TensorFlow. */
function interpolation(from: number, to: number, alignCorners: boolean, isNearest: boolean): Float32Array {
  const weights = new Float32Array(to * from);
  const scale = Math.fround(alignCorners && to > 1 ? (from - 1) / (to - 1) : from / to);
  for (let i = 0; i < to; i += 1) {
    const place = Math.fround(i * scale);
    const nearest = Math.min(from - 1, alignCorners ? Math.round(place) : Math.floor(place));
    const lower = isNearest ? nearest : Math.floor(place);
    const upper = isNearest ? nearest : Math.min(from - 1, Math.ceil(place));
    const fraction = Math.fround(place - lower);
    weights[i * from + lower] = 1;
    if (upper === lower) continue;
    weights[i * from + lower] = 1 - fraction;
    weights[i * from + upper] = fraction;
  }
  return weights;
}

function reshaped(conversion: Conversion): ReturnType<Converter> {
  const { builder, layer } = conversion;
  // 0 means the size of the batch; null is a length that TensorFlow.js leaves open.
  const shape = builder.integers([0, ...layer.outputShape.map((side: number | null) => side ?? -1)]);
  return channelsLast(conversion, builder.add("Reshape", [only(conversion).last, shape]));
}

/** Reads `[[top, bottom], [left, right]]`, which a configuration may abbreviate. */
function edges({ layer }: Conversion, field: string): readonly [readonly [number, number], readonly [number, number]] {
  const setting = (layer.config[field] ?? 0) as number | readonly (number | readonly [number, number])[];
  const pair = (each: number | readonly [number, number]): readonly [number, number] =>
    typeof each === "number" ? [each, each] : each;
  return typeof setting === "number" ? [pair(setting), pair(setting)] : [pair(setting[0]!), pair(setting[1]!)];
}
