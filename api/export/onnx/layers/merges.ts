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
