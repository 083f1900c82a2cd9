import * as tf from "@tensorflow/tfjs-core";
import type { BackendWasm } from "./wasm-kernel";

/** Registers `einsum`, which the stock backend lacks, by products of matrices. */
export function registerEinsum(): void {
  tf.registerKernel({
    kernelName: tf.Einsum,
    backendName: "wasm",
    kernelFunc: ({ inputs, attrs, backend }) => {
      const operands = Object.values(inputs as tf.NamedTensorMap);
      const [labels, output] = String(attrs!["equation"]).replaceAll(/\s/g, "").split("->") as [string, string];
      const names = labels.split(",");
      const made = tf.tidy(() => einsum(operands, names, output));
      // The tensor is disposed of, and its memory is the kernel's result.
      (backend as unknown as BackendWasm).incRef(made.dataId);
      const { dataId, shape, dtype } = made;
      made.dispose();
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
  const known = operands.map((operand, index) => {
    const others = new Set([...output, ...without(index)]);
    const own = [...names[index]!];
    const alone = own.flatMap((label, axis) => (others.has(label) ? [] : [axis]));
    return {
      labels: own.filter((label) => others.has(label)),
      tensor: alone.length > 0 ? tf.sum(operand, alone) : operand,
    };
  });
  const [first, second] = known as [(typeof known)[number], (typeof known)[number] | undefined];
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
