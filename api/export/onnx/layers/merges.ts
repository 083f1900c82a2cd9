import type { GraphBuilder } from "../builder";
import { type Converter, channelsLast, numberOf, perAxis, unsupported } from "./convert";

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

  /** Multiplies two inputs of one or two axes along an axis of each. */
  Dot(conversion) {
    const { builder, inputs, layer } = conversion;
    const axes = perAxis(conversion, "axes", 2);
    const [left, right] = inputs.map((value, side) => {
      const rank = value.shape.length;
      const axis = (axes[side]! + rank + 1) % (rank + 1);
      const given = layer.config["normalize"] === true ? unitVectors(builder, value.last, axis) : value.last;
      if (rank === 1) {
        const [length] = value.shape;
        return builder.add("Reshape", [given, builder.integers(side === 0 ? [0, 1, length!] : [0, length!, 1])]);
      }
      return axis === 2 - side ? given : builder.add("Transpose", [given], { perm: { ints: [0, 2, 1] } });
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
