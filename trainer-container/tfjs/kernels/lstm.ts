/** An LSTM over a sequence with sigmoid gates and tanh; each step is one product and one pass. Gates: i, f, g, o. */
import * as tf from "@tensorflow/tfjs-core";
import { gemm, type Matrix, packWhole } from "../simd/gemm";
import { panelColumns } from "../simd/gemm-kernels";
import { type BackendSimd, simdOf } from "../simd/simd";
import type { KernelArguments } from "./wasm-kernel";

/**
 * Inputs: `z` (x·W + b of all steps, `[time × rows, 4 × units]`) and `kernel` (`[units, 4 × units]`); attribute `time`.
 * Outputs: h `[time × rows, units]`, the gates like `z`, c and tanh(c) like h.
 */
export const lstmSequenceKernel = "LstmSequence";
/**
 * Inputs: `kernel`, the four outputs as `h`, `gates`, `state`, `active`, and `dh` of the last step or steps,
 * `[steps × rows, units]`; attribute `time`. Outputs: the gradients by `z` and `kernel`.
 */
export const lstmSequenceGradientKernel = "LstmSequenceGradient";

type Arguments<Name extends string> = KernelArguments<Record<Name, tf.TensorInfo>, { readonly time: number }>;

const float = 4;

/** Packs B for all steps, if its columns allow it. */
function packed(simd: BackendSimd, b: Matrix, k: number, n: number): number | undefined {
  if (n % panelColumns !== 0) return undefined;
  const at = simd.scratch("recurrent", k * n * float);
  packWhole(simd, b, k, n, at);
  return at;
}

function forward({ backend, inputs, attrs }: Arguments<"z" | "kernel">): tf.TensorInfo[] {
  const { z, kernel } = inputs;
  const units = kernel.shape[0] as number;
  const all = z.shape[0] as number;
  const rows = all / attrs.time;
  const [h, state, active] = Array.from({ length: 3 }, () => backend.makeOutput([all, units], "float32"));
  const outputs = [h, backend.makeOutput([...z.shape], "float32"), state, active] as tf.TensorInfo[];
  const simd = simdOf(backend);
  const [hAt, gatesAt, stateAt, activeAt] = outputs.map((each) => simd.address(each)) as [
    number,
    number,
    number,
    number,
  ];
  const step = rows * units * float;
  const width = 4 * units * float;
  simd.call["copyRows"]!(gatesAt, simd.address(z), 1, all * width, 0);
  const none = simd.scratch("state", step);
  simd.call["fillZero"]!(none, step);
  const b = { at: simd.address(kernel), row: width, column: float };
  const whole = packed(simd, b, units, 4 * units);
  for (let t = 0; t < attrs.time; t++) {
    const [now, before] = [t * step, (t - 1) * step];
    const gates = gatesAt + 4 * now;
    if (t > 0) {
      const a = { at: hAt + before, row: units * float, column: float };
      gemm(simd, { m: rows, n: 4 * units, k: units, a, b, c: { at: gates, row: width }, add: true, packed: whole });
    }
    const stateBefore = t === 0 ? none : stateAt + before;
    simd.call["lstmForward"]!(gates, stateBefore, stateAt + now, activeAt + now, hAt + now, rows, units);
  }
  return outputs;
}

type GradientInputs = "kernel" | "h" | "gates" | "state" | "active" | "dh";

function backward({ backend, inputs, attrs: { time } }: Arguments<GradientInputs>): tf.TensorInfo[] {
  const { kernel, h, gates, dh } = inputs;
  const [all = 0, units = 0] = h.shape;
  const rows = all / time;
  const dz = backend.makeOutput([...gates.shape], "float32");
  const dKernel = backend.makeOutput([...kernel.shape], "float32");
  const simd = simdOf(backend);
  const at = (tensor: tf.TensorInfo): number => simd.address(tensor);
  const step = rows * units * float;
  const width = 4 * units * float;
  const zeros = simd.scratch("state", 3 * step);
  simd.call["fillZero"]!(zeros, 3 * step);
  const [dState, dOutput] = [zeros + step, zeros + 2 * step];
  const steps = (dh.shape[0] as number) / rows;
  const transposed = { at: at(kernel), row: float, column: width };
  const whole = packed(simd, transposed, 4 * units, units);
  for (let t = time - 1; t >= 0; t--) {
    const now = t * step;
    const outputStep = t - (time - steps);
    if (outputStep >= 0) simd.call["copyRows"]!(dOutput, at(dh) + outputStep * step, 1, step, 0);
    if (t < time - 1) {
      const a = { at: at(dz) + 4 * (now + step), row: width, column: float };
      const c = { at: dOutput, row: units * float };
      gemm(simd, { m: rows, n: units, k: 4 * units, a, b: transposed, c, add: outputStep >= 0, packed: whole });
    }
    const before = t === 0 ? zeros : at(inputs.state) + now - step;
    const from = [dOutput, dState, at(gates) + 4 * now, before, at(inputs.active) + now] as const;
    simd.call["lstmBackward"]!(at(dz) + 4 * now, ...from, rows, units);
  }
  gemm(simd, {
    m: units,
    n: 4 * units,
    k: all - rows,
    a: { at: at(h), row: float, column: units * float }, // h of all steps but the last, transposed
    b: { at: at(dz) + 4 * step, row: width, column: float },
    c: { at: at(dKernel), row: width },
  });
  return [dz, dKernel];
}

export function registerLstm(): void {
  const kernels = { [lstmSequenceKernel]: forward, [lstmSequenceGradientKernel]: backward };
  for (const [kernelName, kernelFunc] of Object.entries(kernels)) {
    tf.registerKernel({ kernelName, backendName: "wasm", kernelFunc: kernelFunc as unknown as tf.KernelFunc });
  }
}
