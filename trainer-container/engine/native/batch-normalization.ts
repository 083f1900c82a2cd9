/** Batch normalization of a training batch and its gradient as one operation each; in graphs, oneDNN's. */
import * as tf from "@tensorflow/tfjs-core";
import { batchNormalizationGradientKernel, batchNormalizationKernel } from "../layers/batch-normalization";
import { attributesOf, type NativeBackend, nativeBackendName } from "./op";

export function registerBatchNormalization(backend: NativeBackend): void {
  const { binding } = backend;
  const { float, flag, text } = attributesOf(binding);
  const attributes = (attrs: tf.NamedAttrMap | undefined) => [
    float("T"),
    float("U"),
    flag("is_training", true),
    text("data_format", "NHWC"),
    { name: "epsilon", type: binding.TF_ATTR_FLOAT, value: attrs?.["epsilon"] },
  ];
  tf.registerKernel({
    kernelName: batchNormalizationKernel,
    backendName: nativeBackendName,
    kernelFunc: ({ inputs, attrs }) => {
      const { x, scale, offset } = inputs as Record<"x" | "scale" | "offset", tf.Tensor>;
      const none = tf.tensor1d([], "float32"); // no moving averages: they are updated outside
      const given = [x, scale, offset, none, none];
      const outputs = backend.executeMultipleOutputs("FusedBatchNormV3", attributes(attrs as never), given, 6);
      none.dispose();
      return outputs;
    },
  });
  tf.registerKernel({
    kernelName: batchNormalizationGradientKernel,
    backendName: nativeBackendName,
    kernelFunc: ({ inputs, attrs }) => {
      const { dy, x, scale, kept0, kept1, kept2 } = inputs as Record<string, tf.Tensor>;
      const given = [dy, x, scale, kept0, kept1, kept2] as tf.Tensor[];
      const outputs = backend.executeMultipleOutputs("FusedBatchNormGradV3", attributes(attrs as never), given, 5);
      for (const unused of outputs.slice(3)) unused.dispose();
      return outputs.slice(0, 3);
    },
  });
}
