import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

/** Registers the gradient of `einsum`: for each operand the sum of the products of dy and the other operand. */
export function registerEinsumGradient(): void {
  const name = (index: number) => String(index);
  replaceGradient({
    kernelName: tf.Einsum,
    saveAllInputs: true,
    gradFunc: (dy, saved, attrs) => {
      const operands = saved as tf.Tensor[];
      const [inputs, output] = String(attrs["equation"]).replaceAll(/\s/g, "").split("->") as [string, string];
      const labels = inputs.split(",");
      const gradientOf = (index: number): tf.Tensor => {
        const { shape } = operands[index]!;
        const own = [...labels[index]!];
        const others = operands.flatMap((each, at) => (at === index ? [] : [{ each, label: labels[at]! }]));
        const known = [output, ...others.map(({ label }) => label)];
        const kept = own.filter((label) => known.some((each) => each.includes(label)));
        const sums = tf.einsum(
          `${known.join(",")}->${kept.join("")}`,
          dy as tf.Tensor,
          ...others.map(({ each }) => each),
        );
        // Elements that are summed in this operand alone have one gradient.
        const whole = tf.reshape(
          sums,
          shape.map((size, axis) => (kept.includes(own[axis]!) ? size : 1)),
        );
        return tf.broadcastTo(whole, shape);
      };
      return Object.fromEntries(operands.map((_, index) => [name(index), () => gradientOf(index)]));
    },
  });
}
