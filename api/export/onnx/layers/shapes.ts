import { type Conversion, type Converter, channelsFirst, channelsLast, only, perAxis, unsupported } from "./convert";

/** Layers that move elements, or leave them unchanged. */
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
    if ((layer.config["interpolation"] ?? "nearest") !== "nearest")
      return unsupported(conversion, "its interpolation is not nearest");
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

  // These layers act only in training.
  Dropout: only,
  SpatialDropout1D: only,
  AlphaDropout: only,
  GaussianDropout: only,
  GaussianNoise: only,
};

function reshaped(conversion: Conversion): ReturnType<Converter> {
  const { builder, layer } = conversion;
  // 0 means the size of the batch; null is a length that TensorFlow.js leaves open.
  const shape = builder.integers([0, ...layer.outputShape.map((side: number | null) => side ?? -1)]);
  return channelsLast(conversion, builder.add("Reshape", [only(conversion).last, shape]));
}

/** Reads `[[top, bottom], [left, right]]`, which a configuration may abbreviate. */
function edges({ layer }: Conversion, field: string): readonly [readonly [number, number], readonly [number, number]] {
  const given = (layer.config[field] ?? 0) as number | readonly (number | readonly [number, number])[];
  const pair = (each: number | readonly [number, number]): readonly [number, number] =>
    typeof each === "number" ? [each, each] : each;
  return typeof given === "number" ? [pair(given), pair(given)] : [pair(given[0]!), pair(given[1]!)];
}
