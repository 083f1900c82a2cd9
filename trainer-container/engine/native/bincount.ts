/** Counts values by row, as the layer `categoryEncoding` does. tfjs-node lacks the kernel. */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend, replaceKernel } from "./op";

export function registerBincount(backend: NativeBackend): void {
  const { float, int32, flag } = attributesOf(backend.binding);
  replaceKernel(tf.DenseBincount, ({ inputs, attrs }) => {
    const { x, weights } = inputs as { x: tf.TensorInfo; weights: tf.TensorInfo };
    const { size, binaryOutput } = attrs as unknown as tf.DenseBincountAttrs;
    const attributes = [int32("Tidx"), float("T"), flag("binary_output", binaryOutput === true)];
    const bins = tf.scalar(size, "int32");
    const counts = backend.executeSingleOutput("DenseBincount", attributes, [x, bins, weights]);
    bins.dispose();
    return counts;
  });
}
