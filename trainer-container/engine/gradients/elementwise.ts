import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../tfjs/replace-gradient";

/** Sums over the axes along which a tensor of `shape` was broadcast. */
function sumTo(tensor: tf.Tensor, shape: readonly number[]): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes([...shape], tensor.shape).filter((axis) => tensor.shape[axis] !== 1);
  const sum = axes.length === 0 ? tensor : tf.sum(tensor, axes);
  return tf.util.arraysEqual(sum.shape, [...shape]) ? sum : tf.reshape(sum, [...shape]);
}

/** Lets the inputs of operations have different shapes, whose gradients TensorFlow.js gives in the shape of the output. */
export function registerBroadcastGradients(): void {
  for (const kernelName of [tf.Maximum, tf.Minimum, tf.SquaredDifference, tf.BatchMatMul]) {
    const gradient = tf.getGradient(kernelName);
    const { gradFunc } = gradient;
    replaceGradient({
      ...gradient,
      gradFunc: (dy, saved, attrs) => {
        const [a, b] = saved as [tf.Tensor, tf.Tensor];
        const gradients = gradFunc(dy, saved, attrs);
        return { a: () => sumTo(gradients["a"]!(), a.shape), b: () => sumTo(gradients["b"]!(), b.shape) };
      },
    });
  }
}

const asFloats = (tensor: tf.Tensor) => (tensor.dtype === "float32" ? tensor : tf.cast(tensor, "float32"));

/** Registers the gradient of `mul`, with the bits of TensorFlow.js's, which also converts float32 to float32. */
export function registerMultiplyGradient(): void {
  replaceGradient({
    kernelName: tf.Multiply,
    inputsToSave: ["a", "b"],
    gradFunc: (output, saved) => {
      const [dy, a, b] = [output, ...saved] as [tf.Tensor, tf.Tensor, tf.Tensor];
      return {
        a: () => sumTo(tf.mul(dy, asFloats(b)), a.shape),
        b: () => sumTo(tf.mul(dy, asFloats(a)), b.shape),
      };
    },
  });
}

/**
 * y = (x − mean) · scale / √(variance + ε) + offset: all gradients but that of x follow from the sums of dy and dy · (x
 * − mean) in the statistics' shape.
 */
export function registerBatchNormalizationGradient(): void {
  supplyAbsentInputs();
  replaceGradient({
    kernelName: tf.FusedBatchNorm,
    inputsToSave: ["x", "mean", "variance", "scale"],
    gradFunc: (output, saved, attrs) => {
      const dy = output as tf.Tensor;
      const [x, mean, variance, scale] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const inverse = tf.rsqrt(tf.add(variance, attrs["varianceEpsilon"] as number));
      const factor = tf.mul(inverse, scale);
      const sumDy = sumTo(dy, mean.shape);
      const sumProduct = sumTo(tf.mul(dy, tf.sub(x, mean)), mean.shape);
      return {
        x: () => tf.mul(dy, factor),
        mean: () => tf.mul(sumDy, tf.neg(factor)),
        variance: () => tf.mul(tf.mul(sumProduct, factor), tf.mul(tf.square(inverse), -0.5)),
        scale: () => tf.mul(sumProduct, inverse),
        offset: () => sumDy,
      };
    },
  });
}

/** Supplies an absent scale or offset: TensorFlow.js saves and traverses all inputs, and fails on an absent one. */
function supplyAbsentInputs(): void {
  const prototype = Object.getPrototypeOf(tf.engine()) as Pick<ReturnType<typeof tf.engine>, "isTapeOn" | "runKernel">;
  const { runKernel } = prototype;
  prototype.runKernel = function (this: typeof prototype, kernel, inputs, attributes) {
    if (kernel !== tf.FusedBatchNorm || !this.isTapeOn()) return runKernel.call(this, kernel, inputs, attributes);
    const { mean, scale, offset, ...others } = inputs as Readonly<Record<string, tf.Tensor>>;
    const shape = mean?.shape ?? [];
    const all = { ...others, mean, scale: scale ?? tf.ones(shape), offset: offset ?? tf.zeros(shape) };
    return runKernel.call(this, kernel, all as tf.NamedTensorMap, attributes);
  } as typeof runKernel;
}

/** Operations whose results are not continuous. */
const cutting: ReadonlySet<string> = new Set([
  tf.Less,
  tf.LessEqual,
  tf.Greater,
  tf.GreaterEqual,
  tf.Equal,
  tf.NotEqual,
  tf.LogicalAnd,
  tf.LogicalOr,
  tf.LogicalNot,
  tf.IsNan,
  tf.IsInf,
  tf.IsFinite,
  tf.ArgMax,
  tf.ArgMin,
  tf.FloorDiv,
  tf.Multinomial,
  tf.SearchSorted,
]);

/**
 * Lets no gradient flow through comparisons, as in PyTorch: TensorFlow.js refuses to differentiate them. A loss that
 * depends on weights through comparisons alone is still refused.
 */
export function cutAtComparisons(): void {
  type Rest = readonly [
    inputs: unknown,
    outputs: unknown,
    gradient: unknown,
    saved?: readonly tf.Tensor[],
    ...unknown[],
  ];
  const engine = tf.engine() as unknown as { addTapeNode(kernel: string, ...rest: Rest): void };
  const { addTapeNode } = engine;
  engine.addTapeNode = function (kernel, ...rest) {
    if (!cutting.has(kernel)) return addTapeNode.call(this, kernel, ...rest);
    // The tape, which does not get them, would dispose of them at its end.
    for (const tensor of rest[3] ?? []) tensor.dispose();
  };
}

/** Registers the gradients of `sum` and `mean` as one broadcast; TensorFlow.js multiplies by ones in the shape of x. */
export function registerReductionGradients(): void {
  for (const kernelName of [tf.Sum, tf.Mean]) {
    replaceGradient({
      kernelName,
      inputsToSave: ["x"],
      gradFunc: (output, [saved], attrs) => {
        const { shape } = saved as tf.Tensor;
        const axes = tf.util.parseAxisParam(attrs["axis"] as unknown as number[], shape);
        const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
        const count = tf.util.sizeFromShape(shape) / tf.util.sizeFromShape(kept);
        const dy = tf.reshape(output as tf.Tensor, kept);
        return { x: () => tf.broadcastTo(kernelName === tf.Mean ? tf.div(dy, count) : dy, shape) };
      },
    });
  }
}

interface Cumulative {
  readonly axis: number;
  readonly exclusive: boolean;
  readonly reverse: boolean;
}

/** Registers the gradients of `cumsum`, which TensorFlow.js transposes but along the last axis, and of `cumprod`. */
export function registerCumulativeGradients(): void {
  replaceGradient({
    kernelName: tf.Cumsum,
    gradFunc: (dy, _, attrs) => {
      const { axis, exclusive, reverse } = attrs as unknown as Cumulative;
      return { x: () => tf.cumsum(dy as tf.Tensor, axis, exclusive, !reverse) };
    },
  });
  replaceGradient({
    kernelName: tf.Cumprod,
    inputsToSave: ["x"],
    outputsToSave: [true],
    gradFunc: (dy, saved, attrs) => {
      const [x, y] = saved as [tf.Tensor, tf.Tensor];
      const { axis, exclusive, reverse } = attrs as unknown as Cumulative;
      // As in TensorFlow, the gradient of an x of 0 is NaN.
      return { x: () => tf.div(tf.cumsum(tf.mul(dy as tf.Tensor, y), axis, exclusive, !reverse), x) };
    },
  });
}

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
        const axes = [...labels[index]!];
        const others = operands.flatMap((each, at) => (at === index ? [] : [{ each, label: labels[at]! }]));
        const sources = [output, ...others.map(({ label }) => label)];
        const kept = axes.filter((label) => sources.some((each) => each.includes(label)));
        const sums = tf.einsum(
          `${sources.join(",")}->${kept.join("")}`,
          dy as tf.Tensor,
          ...others.map(({ each }) => each),
        );
        // Elements that are summed in this operand alone have one gradient.
        const whole = tf.reshape(
          sums,
          shape.map((size, axis) => (kept.includes(axes[axis]!) ? size : 1)),
        );
        return tf.broadcastTo(whole, shape);
      };
      return Object.fromEntries(operands.map((_, index) => [name(index), () => gradientOf(index)]));
    },
  });
}
