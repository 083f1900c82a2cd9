/** An LSTM as BlockLSTMV2, its gradient as BlockLSTMGradV2 or, for larger states, LSTMBlockCellGrad per step. */
import * as tf from "@tensorflow/tfjs-core";
import { columnSums } from "../layers/exact";
import { fusedLstmGradientKernel, fusedLstmKernel } from "../layers/recurrent";
import { attributesOf, type NativeBackend, nativeBackendName } from "./operations";

/** The binding has no name for `TF_INT64`. */
const int64 = 9;
/** From this size of a state on, steps without the kernel's product, and one product at the end, are faster. */
const largeState = 2_048;
/** Longer sequences make graphs too large. */
const maxGraphSteps = 512;

type Inputs = Readonly<Record<"x" | "kernel" | "bias", tf.Tensor>>;
interface Sequence extends Inputs {
  /** Outputs of the forward operation: i, c, f, o, g, tanh(c), h. */
  readonly outputs: readonly tf.Tensor[];
  /** By h of the last steps, `[steps, rows, units]`; none: 0. */
  readonly dh: tf.Tensor;
}

export function registerFusedLstm(backend: NativeBackend): void {
  const { float, flag } = attributesOf(backend.binding);
  const common = [float("T"), flag("use_peephole", false)];
  const forward = [...common, { name: "cell_clip", type: backend.binding.TF_ATTR_FLOAT, value: 0 }];

  /** Inputs that both operations have: number of steps, x, states before the first step, kernel, peepholes, bias. */
  const execute = (
    op: string,
    attributes: typeof common,
    { x, kernel, bias }: Inputs,
    others: readonly tf.Tensor[],
    outputs: number,
  ): tf.Tensor[] => {
    const [time = 0, rows = 0] = x.shape;
    const units = (kernel.shape[1] as number) / 4;
    return tf.tidy(() => {
      const [state, peephole] = [tf.zeros([rows, units]), tf.zeros([units])];
      const ids = backend.getInputTensorIds([x, state, state, kernel, peephole, peephole, peephole, bias, ...others]);
      const { binding } = backend;
      const steps = binding.createTensor([], int64, Int32Array.of(time, 0));
      const created = binding.executeOp(op, attributes, [steps, ...ids], outputs);
      binding.deleteTensor(steps);
      return created.map((each) => backend.createOutputTensor(each));
    });
  };

  const gradientAtOnce = (sequence: Sequence): tf.Tensor[] => {
    const { outputs, dh } = sequence;
    const { shape } = outputs[0] as tf.Tensor;
    const missing = (shape[0] as number) - (dh.shape[0] as number);
    const all = missing === 0 ? dh : tf.concat([tf.zeros([missing, ...shape.slice(1)]), dh], 0);
    const noStateGradient = tf.zeros(shape);
    const gradients = execute("BlockLSTMGradV2", common, sequence, [...outputs, noStateGradient, all], 8);
    const [dx, , , dKernel, , , , dBias] = gradients as tf.Tensor[];
    return [dx, dKernel, dBias] as tf.Tensor[];
  };

  /** Returns the gradients by the gates before their activations, in the order i, g, f, o, `[time × rows, 4 × units]`. */
  const gateGradients = (recurrentKernel: tf.Tensor2D, { outputs, dh }: Sequence): tf.Tensor2D => {
    const [time = 0, rows = 0, units = 0] = (outputs[0] as tf.Tensor).shape;
    const states = outputs.slice(0, 6).map((state) => [...tf.unstack(state)]);
    const outside = tf.unstack(dh);
    const [none, peephole] = [tf.zeros<tf.Rank.R2>([rows, units]), tf.zeros([units])];
    // Only the shapes of x, h, kernel and bias are used.
    const [x, kernel, bias] = [tf.zeros([rows, 1]), tf.zeros([1 + units, 4 * units]), tf.zeros([4 * units])];
    const gates: tf.Tensor2D[] = [];
    let dState: tf.Tensor = none;
    for (let t = time - 1; t >= 0; t--) {
      const here = states.map((state) => state[t] as tf.Tensor);
      const before = t === 0 ? none : (states[1]?.[t - 1] as tf.Tensor);
      const later = gates[0] && tf.matMul(gates[0], recurrentKernel, false, true);
      const outer = outside[t - time + outside.length];
      const dOutput = later && outer ? tf.add(later, outer) : (later ?? outer ?? none);
      const inputs = [x, before, none, kernel, peephole, peephole, peephole, bias, ...here, dState, dOutput];
      const [dBefore, gate] = backend.executeMultipleOutputs("LSTMBlockCellGrad", common, inputs, 5);
      gates.unshift(gate as tf.Tensor2D);
      dState = dBefore as tf.Tensor;
    }
    return tf.concat2d(gates, 0);
  };

  const gradientBySteps = (sequence: Sequence): tf.Tensor[] => {
    const { x, outputs } = sequence;
    const [time = 0, rows = 0, features = 0] = x.shape;
    const h = outputs[6] as tf.Tensor;
    const units = h.shape[2] as number;
    const kernel = swapMiddleQuarters(sequence.kernel) as tf.Tensor2D;
    const recurrentKernel = tf.slice(kernel, [features, 0], [units, 4 * units]);
    const gates = gateGradients(recurrentKernel, sequence);
    const before = tf.concat([tf.zeros([1, rows, units]), tf.slice(h, [0, 0, 0], [time - 1, rows, units])], 0);
    const inputs = tf.concat([x, before], 2);
    const dKernel = tf.matMul(tf.reshape(inputs, [time * rows, features + units]), gates, true, false);
    const dx = tf.matMul(gates, tf.slice(kernel, [0, 0], [features, 4 * units]), false, true);
    return [tf.reshape(dx, x.shape), swapMiddleQuarters(dKernel), swapMiddleQuarters(columnSums(gates))];
  };

  tf.registerKernel({
    kernelName: fusedLstmKernel,
    backendName: nativeBackendName,
    kernelFunc: ({ inputs }) => execute("BlockLSTMV2", forward, inputs as never, [], 7),
  });
  tf.registerKernel({
    kernelName: fusedLstmGradientKernel,
    backendName: nativeBackendName,
    kernelFunc: ({ inputs }) => {
      const named = inputs as unknown as Inputs & Readonly<Record<string, tf.Tensor>>;
      const outputs = Array.from({ length: 7 }, (_, index) => named[`output${index}`] as tf.Tensor);
      const sequence: Sequence = { ...(named as Inputs), outputs, dh: named["dh"] as tf.Tensor };
      const [time = 0, rows = 0, units = 0] = (outputs[0] as tf.Tensor).shape;
      const bySteps = rows * units >= largeState && time <= maxGraphSteps;
      return tf.tidy(() => (bySteps ? gradientBySteps(sequence) : gradientAtOnce(sequence)));
    },
  });
}

/** Converts between the orders of gates i, f, g, o and i, g, f, o along the last axis. */
function swapMiddleQuarters<T extends tf.Tensor>(tensor: T): T {
  const axis = tensor.rank - 1;
  const [i, f, g, o] = tf.split(tensor, 4, axis) as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
  return tf.concat([i, g, f, o], axis) as T;
}
