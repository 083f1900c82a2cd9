import * as tf from "@tensorflow/tfjs-core";

/**
 * A backend may compute a whole LSTM with sigmoid gates and tanh as one kernel. Inputs: `x` `[time, rows, features]`,
 * `kernel` `[features + units, 4 × units]` (W above U), `bias` `[4 × units]`; gates in the order i, f, g, o. Outputs, all
 * `[time, rows, units]`: i, c, f, o, g, tanh(c), h.
 */
export const fusedLstmKernel = "FusedLstm";
/**
 * Its gradient: the same inputs, the outputs as `output0` to `output6`, and `dh` by h of the last step or steps,
 * `[steps, rows, units]`. Outputs: by `x`, `kernel` and `bias`.
 */
export const fusedLstmGradientKernel = "FusedLstmGradient";

export const hasFusedLstm = (): boolean => tf.getKernel(fusedLstmKernel, tf.getBackend()) !== undefined;

interface Weights {
  readonly kernel: tf.Tensor2D;
  readonly recurrentKernel: tf.Tensor2D;
  readonly bias: tf.Tensor1D | undefined;
}

/** Computes h of all steps, or of the last one. @param x `[time, rows, features]` */
export function fusedLstm(
  x: tf.Tensor3D,
  { kernel, recurrentKernel, bias }: Weights,
  returnSequences: boolean,
): tf.Tensor {
  const [time, rows] = x.shape;
  const [units] = recurrentKernel.shape;
  const both = tf.concat2d([kernel, recurrentKernel], 0);
  const lstm = tf.customGrad((...given) => {
    const [inputs, weights, offset, save] = given as unknown as [
      tf.Tensor3D,
      tf.Tensor2D,
      tf.Tensor1D,
      (tensors: tf.Tensor[]) => void,
    ];
    const named = { x: inputs, kernel: weights, bias: offset };
    const outputs = tf.engine().runKernel(fusedLstmKernel, named) as tf.Tensor3D[];
    save([inputs, weights, offset, ...outputs]);
    const h = outputs[6] as tf.Tensor3D;
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedX, savedKernel, savedBias, ...states] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, ...tf.Tensor[]];
      const dh = tf.reshape(dy, returnSequences ? h.shape : [1, rows, units]);
      const byName = Object.fromEntries(states.map((state, index) => [`output${index}`, state]));
      const all = { x: savedX, kernel: savedKernel, bias: savedBias, ...byName, dh };
      return tf.engine().runKernel(fusedLstmGradientKernel, all) as tf.Tensor[];
    };
    const value = returnSequences ? h : tf.reshape(tf.slice(h, [time - 1, 0, 0], [1, rows, units]), [rows, units]);
    return { value, gradFunc };
  });
  return lstm(x, both, bias ?? tf.zeros([4 * units])) as tf.Tensor;
}
