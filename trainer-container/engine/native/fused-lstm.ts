/** An LSTM over a whole sequence and its gradient as one operation each: BlockLSTMV2 and BlockLSTMGradV2, without peepholes. */
import * as tf from "@tensorflow/tfjs-core";
import { fusedLstmGradientKernel, fusedLstmKernel } from "../layers/fused-lstm";
import { attributesOf, type NativeBackend, nativeBackendName } from "./op";

/** The binding has no name for `TF_INT64`. */
const int64 = 9;

export function registerFusedLstm(backend: NativeBackend): void {
  const { float, flag } = attributesOf(backend.binding);
  const common = [float("T"), flag("use_peephole", false)];
  const forward = [...common, { name: "cell_clip", type: backend.binding.TF_ATTR_FLOAT, value: 0 }];

  /** Inputs that both operations have: number of steps, x, states before the first step, kernel, peepholes, bias. */
  const execute = (
    op: string,
    attributes: typeof common,
    { x, kernel, bias }: Readonly<Record<"x" | "kernel" | "bias", tf.Tensor>>,
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

  tf.registerKernel({
    kernelName: fusedLstmKernel,
    backendName: nativeBackendName,
    kernelFunc: ({ inputs }) => execute("BlockLSTMV2", forward, inputs as never, [], 7),
  });
  tf.registerKernel({
    kernelName: fusedLstmGradientKernel,
    backendName: nativeBackendName,
    kernelFunc: ({ inputs }) => {
      const { dh, ...named } = inputs as unknown as Record<string, tf.Tensor> & { readonly dh: tf.Tensor };
      const states = Array.from({ length: 7 }, (_, index) => named[`output${index}`] as tf.Tensor);
      const noStateGradient = tf.zerosLike(dh);
      const all = execute("BlockLSTMGradV2", common, named as never, [...states, noStateGradient, dh], 8);
      noStateGradient.dispose();
      const [dx, , , dKernel, , , , dBias] = all as tf.Tensor[];
      for (const unused of all) if (![dx, dKernel, dBias].includes(unused)) unused.dispose();
      return [dx, dKernel, dBias] as tf.Tensor[];
    },
  });
}
