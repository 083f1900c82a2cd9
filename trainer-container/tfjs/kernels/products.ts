import * as tf from "@tensorflow/tfjs-core";
import { gemm } from "../simd/gemm";
import { simdOf } from "../simd/simd";
import { type Epilogue, finish } from "./elementwise";
import { type BackendWasm, callKernel, dispose, type KernelArguments, replaceKernel } from "./wasm-kernel";

interface MatMulAttributes {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

type MatMulInputs = Readonly<Record<"a" | "b", tf.TensorInfo>>;
type FusedInputs = MatMulInputs & Pick<Epilogue, "bias" | "preluActivationWeights">;
type FusedAttributes = MatMulAttributes & Pick<Epilogue, "activation" | "leakyreluAlpha">;

const float = 4;

/** Returns the sizes and byte strides of the matrices in the last two axes. */
function matrix({ shape }: tf.TensorInfo, transposed: boolean) {
  const [height, width] = shape.slice(-2) as [number, number];
  const bytes = height * width * float;
  return transposed
    ? { rows: width, columns: height, row: float, column: width * float, bytes }
    : { rows: height, columns: width, row: width * float, column: float, bytes };
}

/** Returns the index of the operand's matrix for the result's matrix `index`. Outer axes of size 1 are repeated. */
function outerIndex(outer: readonly number[], resultOuter: readonly number[], index: number): number {
  let [at, stride, rest] = [0, 1, index];
  for (let axis = 1; axis <= resultOuter.length; axis++) {
    const side = resultOuter.at(-axis) as number;
    const size = outer.at(-axis) ?? 1;
    if (axis <= outer.length) {
      at += size === 1 ? 0 : (rest % side) * stride;
      stride *= size;
    }
    rest = Math.floor(rest / side);
  }
  return at;
}

function multiply(backend: BackendWasm, { a, b }: MatMulInputs, attrs: MatMulAttributes): tf.TensorInfo {
  if (a.dtype !== "float32" || b.dtype !== "float32")
    throw new Error(`The WebAssembly backend multiplies float32 matrices; got ${a.dtype} and ${b.dtype}.`);
  const [left, right] = [matrix(a, attrs.transposeA), matrix(b, attrs.transposeB)];
  if (left.columns !== right.rows)
    throw new Error(
      `Matrices of [${a.shape}] and [${b.shape}] do not fit: ${left.columns} columns, ${right.rows} rows.`,
    );
  const [outerA, outerB] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
  const outer = tf.broadcast_util.assertAndGetBroadcastShape(outerA, outerB);
  const [m, n] = [left.rows, right.columns];
  const product = backend.makeOutput([...outer, m, n], "float32");
  const simd = simdOf(backend);
  for (let index = 0; index < tf.util.sizeFromShape(outer); index++) {
    gemm(simd, {
      m,
      n,
      k: left.columns,
      a: { ...left, at: simd.address(a) + outerIndex(outerA, outer, index) * left.bytes },
      b: { ...right, at: simd.address(b) + outerIndex(outerB, outer, index) * right.bytes },
      c: { at: simd.address(product) + index * m * n * float, row: n * float },
    });
  }
  return product;
}

/** Multiplies matrices of integers, as TensorFlow.js's confusion matrix does. Sums below 2²⁴ are exact. */
function multiplyIntegers(backend: BackendWasm, { a, b }: MatMulInputs, attrs: MatMulAttributes): tf.TensorInfo {
  const cast = (x: tf.TensorInfo, dtype: tf.DataType) => callKernel(backend, tf.Cast, { x }, { dtype });
  const floats = { a: cast(a, "float32"), b: cast(b, "float32") };
  const product = multiply(backend, floats, attrs);
  const integers = cast(product, "int32");
  dispose(backend, floats.a, floats.b, product);
  return integers;
}

/** Registers both products: faster than XNNPACK's, and without a copy of transposed operands. */
export function registerMatMul(): void {
  replaceKernel<KernelArguments<MatMulInputs, MatMulAttributes>>(
    tf.BatchMatMul,
    () =>
      ({ backend, inputs, attrs }) =>
        inputs.a.dtype === "int32" && inputs.b.dtype === "int32"
          ? multiplyIntegers(backend, inputs, attrs)
          : multiply(backend, inputs, attrs),
  );
  replaceKernel<KernelArguments<FusedInputs, FusedAttributes>>(
    tf._FusedMatMul,
    () =>
      ({ backend, inputs, attrs }) =>
        finish(backend, multiply(backend, inputs, attrs), { ...inputs, ...attrs }),
  );
}

/** Registers `einsum`, which the stock backend lacks, by products of matrices. */
export function registerEinsum(): void {
  tf.registerKernel({
    kernelName: tf.Einsum,
    backendName: "wasm",
    kernelFunc: ({ inputs, attrs, backend }) => {
      const operands = Object.values(inputs as tf.NamedTensorMap);
      const [labels, output] = String(attrs!["equation"]).replaceAll(/\s/g, "").split("->") as [string, string];
      const names = labels.split(",");
      const product = tf.tidy(() => einsum(operands, names, output));
      // The tensor is disposed of, and its memory is the kernel's result.
      (backend as unknown as BackendWasm).incRef(product.dataId);
      const { dataId, shape, dtype } = product;
      product.dispose();
      return { dataId, shape, dtype };
    },
  });
}

function einsum(operands: readonly tf.Tensor[], names: readonly string[], output: string): tf.Tensor {
  const sizes = new Map<string, number>();
  for (const [index, { shape }] of operands.entries()) {
    for (const [axis, label] of [...names[index]!].entries()) sizes.set(label, shape[axis]!);
  }
  const without = (index: number) => names.flatMap((name, at) => (at === index ? [] : [...name]));
  const factors = operands.map((operand, index) => {
    const others = new Set([...output, ...without(index)]);
    const axes = [...names[index]!];
    const alone = axes.flatMap((label, axis) => (others.has(label) ? [] : [axis]));
    return {
      labels: axes.filter((label) => others.has(label)),
      tensor: alone.length > 0 ? tf.sum(operand, alone) : operand,
    };
  });
  const [first, second] = factors as [(typeof factors)[number], (typeof factors)[number] | undefined];
  if (second === undefined) return ordered(first.tensor, first.labels, [...output]);
  const batch = first.labels.filter((label) => second.labels.includes(label) && output.includes(label));
  const summed = first.labels.filter((label) => second.labels.includes(label) && !output.includes(label));
  const rows = first.labels.filter((label) => !second.labels.includes(label));
  const columns = second.labels.filter((label) => !first.labels.includes(label));
  const count = (labels: readonly string[]) => labels.reduce((product, label) => product * sizes.get(label)!, 1);
  const left = ordered(first.tensor, first.labels, [...batch, ...rows, ...summed]);
  const right = ordered(second.tensor, second.labels, [...batch, ...summed, ...columns]);
  const product = tf.matMul(
    tf.reshape(left, [count(batch), count(rows), count(summed)]),
    tf.reshape(right, [count(batch), count(summed), count(columns)]),
  );
  const all = [...batch, ...rows, ...columns];
  return ordered(
    tf.reshape(
      product,
      all.map((label) => sizes.get(label)!),
    ),
    all,
    [...output],
  );
}

function ordered(tensor: tf.Tensor, labels: readonly string[], wanted: readonly string[]): tf.Tensor {
  const order = wanted.map((label) => labels.indexOf(label));
  return order.every((axis, at) => axis === at) ? tf.clone(tensor) : tf.transpose(tensor, order);
}
