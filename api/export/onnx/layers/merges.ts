import { type Converter, channelsLast, numberOf, unsupported } from "./convert";

/** Layers with several inputs, which join the branches of a functional model. */
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

function elementwise(op: string): Converter {
  return (conversion) => {
    const { builder, inputs, layer } = conversion;
    const shape = layer.outputShape.join();
    if (inputs.some((value) => value.shape.join() !== shape))
      unsupported(conversion, "its inputs have different shapes");
    const names = inputs.map((value) => value.last);
    return channelsLast(
      conversion,
      names.slice(1).reduce((sum, name) => builder.add(op, [sum, name]), names[0]!),
    );
  };
}
