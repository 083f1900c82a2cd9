import * as tf from "@tensorflow/tfjs-core";
import { paddingOf } from "../gradients/convolutions";
import { nativeBackendName, replaceKernel } from "./op";

/** Lets convolutions have a number as padding, which tfjs-node refuses. */
export function registerExplicitPadding(): void {
  for (const kernelName of [tf.Conv2D, tf.DepthwiseConv2dNative]) {
    const stock = tf.getKernel(kernelName, nativeBackendName).kernelFunc;
    replaceKernel(kernelName, (call) => {
      const { inputs, attrs = {} } = call;
      const { x, filter } = inputs as { x: tf.Tensor4D; filter: tf.Tensor4D };
      if (typeof attrs["pad"] === "string" || attrs["dataFormat"] === "NCHW") return stock(call);
      const [rows, columns] = paddingOf(x, filter, attrs, kernelName);
      const padded = tf.pad(x, [[0, 0], rows, columns, [0, 0]]);
      const output = stock({ ...call, inputs: { ...inputs, x: padded }, attrs: { ...attrs, pad: "valid" } });
      padded.dispose();
      return output;
    });
  }
}
