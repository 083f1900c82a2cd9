/** Bias, activations and batch normalization, with gradients. The stock kernels broadcast element by element. */
import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../replace-gradient";
import { sumRows } from "../simd/gemm";
import { simdOf } from "../simd/simd";
import { type BackendWasm, callKernel, dispose, type KernelArguments, replaceKernel } from "./wasm-kernel";

export interface Epilogue {
  readonly bias?: tf.TensorInfo | null;
  readonly activation?: tf.backend_util.Activation;
  readonly leakyreluAlpha?: number;
  readonly preluActivationWeights?: tf.TensorInfo | null;
}

const kernels: Readonly<Partial<Record<tf.backend_util.Activation, string>>> = {
  relu: tf.Relu,
  relu6: tf.Relu6,
  elu: tf.Elu,
  sigmoid: tf.Sigmoid,
  leakyrelu: tf.LeakyRelu,
  prelu: tf.Prelu,
};

/** Adds the bias to `x` in place, then applies the activation. `x` must not be used afterwards. */
export function finish(backend: BackendWasm, x: tf.TensorInfo, epilogue: Epilogue): tf.TensorInfo {
  const { bias, activation = "linear", leakyreluAlpha, preluActivationWeights } = epilogue;
  const rectified = Boolean(bias) && activation === "relu";
  if (bias) {
    const width = x.shape.at(-1) as number;
    if (tf.util.sizeFromShape(bias.shape) !== width)
      throw new Error(`The bias is [${bias.shape}], but the result's rows have ${width} elements.`);
    const simd = simdOf(backend);
    const at = simd.address(x);
    const rows = tf.util.sizeFromShape(x.shape.slice(0, -1));
    simd.call["addBias"]!(at, at, simd.address(bias), rows, width * 4, rectified ? 1 : 0);
  }
  if (rectified || activation === "linear") return x;
  const kernel = kernels[activation];
  if (!kernel) throw new Error(`The WebAssembly backend has no fused activation '${activation}'.`);
  const inputs = { x, ...(preluActivationWeights ? { alpha: preluActivationWeights } : {}) };
  const activated = callKernel(backend, kernel, inputs, { alpha: leakyreluAlpha });
  dispose(backend, x);
  return activated;
}

const float = 4;

function addBias(backend: BackendWasm, a: tf.TensorInfo, bias: tf.TensorInfo): tf.TensorInfo {
  const width = bias.shape[0] as number;
  const sum = backend.makeOutput([...a.shape], "float32");
  const simd = simdOf(backend);
  const rows = tf.util.sizeFromShape(a.shape) / width;
  simd.call["addBias"]!(simd.address(sum), simd.address(a), simd.address(bias), rows, width * float, 0);
  return sum;
}

export function registerBias(): void {
  replaceKernel<KernelArguments<Record<"a" | "b", tf.TensorInfo>, object>>(tf.Add, (stock) => (args) => {
    const { a, b } = args.inputs;
    const isBias =
      a.dtype === "float32" &&
      b.dtype === "float32" &&
      a.shape.length > 1 &&
      b.shape.length === 1 &&
      a.shape.at(-1) === b.shape[0] &&
      b.shape[0] !== 0;
    return isBias ? addBias(args.backend, a, b) : stock(args);
  });
  type Sum = KernelArguments<
    Record<"x", tf.TensorInfo>,
    { readonly axis: number | number[]; readonly keepDims: boolean }
  >;
  replaceKernel<Sum>(tf.Sum, (stock) => (args) => {
    const { x } = args.inputs;
    const axes = [...tf.util.parseAxisParam(args.attrs.axis, x.shape)].sort((a, b) => a - b);
    const kept = x.shape.slice(axes.length);
    const leading = axes.every((axis, i) => axis === i) && axes.length > 0 && kept.length > 0;
    if (!leading || x.dtype !== "float32" || tf.util.sizeFromShape(x.shape) === 0) return stock(args);
    const shape = args.attrs.keepDims ? [...axes.map(() => 1), ...kept] : kept;
    const width = tf.util.sizeFromShape(kept);
    const sums = args.backend.makeOutput(shape, "float32");
    const simd = simdOf(args.backend);
    sumRows(simd, simd.address(x), tf.util.sizeFromShape(x.shape) / width, width, simd.address(sums));
    return sums;
  });
}

type Prelu = KernelArguments<Record<"x" | "alpha", tf.TensorInfo>, object>;

/** Registers a PReLU whose slopes may be the same along any axis. The stock kernel repeats them in the order of memory. */
export function registerPrelu(): void {
  replaceKernel<Prelu>(tf.Prelu, (stock) => (args) => {
    const { backend } = args;
    const { x, alpha } = args.inputs;
    const shape = [...Array(Math.max(0, x.shape.length - alpha.shape.length)).fill(1), ...alpha.shape] as number[];
    const first = shape.findIndex((size) => size !== 1);
    const isRepeated = first === -1 || shape.every((size, axis) => axis < first || size === x.shape[axis]);
    const fits = shape.every((size, axis) => size === 1 || size === x.shape[axis]);
    if (isRepeated || !fits) return stock(args);
    const reps = shape.map((size, axis) => (size === 1 ? (x.shape[axis] as number) : 1));
    const tiled = callKernel(backend, tf.Tile, { x: { ...alpha, shape } }, { reps });
    const result = stock({ ...args, inputs: { x, alpha: tiled } });
    dispose(backend, tiled);
    return result;
  });
}

type Statistics = Partial<Record<"offset" | "scale", tf.TensorInfo>>;
type Normalization = KernelArguments<
  Record<"x" | "mean" | "variance", tf.TensorInfo> & Statistics,
  { readonly varianceEpsilon: number }
>;

/** The stock kernel is slower, and wrong unless the statistics have the shape of x or of its last axis. */
export function registerBatchNormalization(): void {
  replaceKernel<Normalization>(tf.FusedBatchNorm, () => ({ backend, inputs, attrs }) => {
    const { x, mean, variance, offset, scale } = inputs;
    const epsilon = backend.makeOutput([], "float32");
    backend.typedArrayFromHeap(epsilon)[0] = attrs.varianceEpsilon;
    let factor = apply(backend, tf.Add, variance, epsilon);
    factor = replaced(backend, factor, callKernel(backend, tf.Rsqrt, { x: factor }));
    dispose(backend, epsilon);
    if (scale) factor = replaced(backend, factor, apply(backend, tf.Multiply, factor, scale));
    let y = apply(backend, tf.Sub, x, mean);
    y = replaced(backend, y, apply(backend, tf.Multiply, y, factor));
    dispose(backend, factor);
    return offset ? replaced(backend, y, apply(backend, tf.Add, y, offset)) : y;
  });
}

const apply = (backend: BackendWasm, kernel: string, a: tf.TensorInfo, b: tf.TensorInfo) =>
  callKernel(backend, kernel, { a, b });

function replaced(backend: BackendWasm, old: tf.TensorInfo, by: tf.TensorInfo): tf.TensorInfo {
  dispose(backend, old);
  return by;
}

interface ActivationGradient {
  readonly activation: string;
  /** The tensor of the forward pass from which the gradient is computed. */
  readonly from: "input" | "output";
  readonly kernel: string;
  /** Computes an element of the last vector, if it is not whole, with the rounding of the others. */
  readonly one: (dy: number, value: number) => number;
  /** Computes the gradient on other backends. */
  readonly composed: (dy: tf.Tensor, value: tf.Tensor) => tf.Tensor;
}

const { fround } = Math;

const gradients: readonly ActivationGradient[] = [
  {
    activation: tf.Relu, // dy where x > 0, else dy × 0
    from: "input",
    kernel: "reluGrad",
    one: (dy, x) => dy * (x <= 0 ? 0 : 1),
    composed: (dy, x) => tf.mul(dy, tf.cast(tf.step(x), "float32")),
  },
  {
    activation: tf.Sigmoid,
    from: "output",
    kernel: "sigmoidGrad",
    one: (dy, y) => dy * fround(y * fround(1 - y)),
    composed: (dy, y) => tf.mul(dy, tf.mul(y, tf.sub(1, y))),
  },
  {
    activation: tf.Tanh,
    from: "output",
    kernel: "tanhGrad",
    one: (dy, y) => dy * fround(1 - fround(y * y)),
    composed: (dy, y) => tf.mul(tf.sub(1, tf.square(y)), dy),
  },
];

/** Registers gradients in one pass. TensorFlow.js uses three or four kernels, each with its own memory. */
export function registerActivationGradients(): void {
  for (const { activation, from, kernel, one, composed } of gradients) {
    const kernelFunc = (args: KernelArguments<Record<"dy" | "value", tf.TensorInfo>, object>) =>
      compute(args, kernel, one);
    tf.registerKernel({ kernelName: kernel, backendName: "wasm", kernelFunc: kernelFunc as unknown as tf.KernelFunc });
    replaceGradient({
      kernelName: activation,
      ...(from === "input" ? { inputsToSave: ["x"] } : { outputsToSave: [true] }),
      gradFunc: (output, saved) => {
        const [dy, value] = [output, saved[0]] as [tf.Tensor, tf.Tensor];
        const onWasm = () => tf.engine().runKernel(kernel, { dy, value }) as tf.Tensor;
        return { x: () => (tf.getBackend() === "wasm" ? onWasm() : composed(dy, value)) };
      },
    });
  }
}

function compute(
  { backend, inputs }: KernelArguments<Record<"dy" | "value", tf.TensorInfo>, object>,
  kernel: string,
  one: ActivationGradient["one"],
): tf.TensorInfo {
  const gradient = backend.makeOutput([...inputs.value.shape], "float32");
  const simd = simdOf(backend);
  const size = tf.util.sizeFromShape(inputs.value.shape);
  const [to, from, at] = [simd.address(gradient), simd.address(inputs.dy), simd.address(inputs.value)];
  const vectors = size >> 2;
  simd.call[kernel]!(to, from, at, vectors);
  const rest = size & 3;
  if (rest > 0) {
    const [g, d, v] = [to, from, at].map((each) => simd.floats(each + vectors * 16, rest)) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    for (let i = 0; i < rest; i++) g[i] = one(d[i] as number, v[i] as number);
  }
  return gradient;
}
