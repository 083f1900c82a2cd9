import * as tf from "@tensorflow/tfjs-core";
import { lstmSequenceGradientKernel, lstmSequenceKernel } from "../../../adapters/tfjs/kernels/lstm";

export const hasLstmSequence = (): boolean => tf.getKernel(lstmSequenceKernel, tf.getBackend()) !== undefined;

/**
 * Computes an LSTM with sigmoid gates and tanh by the backend's kernels.
 *
 * @param z x_t·W + b of all steps, `[time × rows, 4 × units]`
 * @returns all h_t, `[time × rows, units]`, or the last one
 */
export function lstmSequence(z: tf.Tensor2D, kernel: tf.Tensor2D, time: number, returnSequences: boolean): tf.Tensor2D {
  const [all, units] = [z.shape[0], kernel.shape[0]];
  const rows = all / time;
  const compute = tf.customGrad((...given) => {
    const [inputs, recurrent, save] = given as unknown as [tf.Tensor2D, tf.Tensor2D, (tensors: tf.Tensor[]) => void];
    const named = { z: inputs, kernel: recurrent };
    const outputs = tf.engine().runKernel(lstmSequenceKernel, named, { time }) as tf.Tensor2D[];
    save([recurrent, ...outputs]);
    const gradFunc = (dh: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedKernel, h, gates, state, active] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const all = { kernel: savedKernel, h, gates, state, active, dh };
      return tf.engine().runKernel(lstmSequenceGradientKernel, all, { time }) as tf.Tensor[];
    };
    const h = outputs[0] as tf.Tensor2D;
    return { value: returnSequences ? h : tf.slice(h, [all - rows, 0], [rows, units]), gradFunc };
  });
  return compute(z, kernel) as tf.Tensor2D;
}
