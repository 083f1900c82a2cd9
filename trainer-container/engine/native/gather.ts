/** Looks rows up without reading the indices: TensorFlow's CPU kernel refuses an index out of range by itself. */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend, replaceKernel } from "./op";

export function registerGather(backend: NativeBackend): void {
  const { binding } = backend;
  const { int32 } = attributesOf(binding);
  replaceKernel(tf.GatherV2, ({ inputs, attrs }) => {
    const { x, indices } = inputs as { x: tf.Tensor; indices: tf.Tensor };
    const { axis, batchDims } = attrs as unknown as tf.GatherV2Attrs;
    tf.backend_util.segment_util.collectGatherOpShapeInfo(x, indices, axis, batchDims); // refuses wrong shapes
    const type = x.dtype === "int32" ? binding.TF_INT32 : x.dtype === "bool" ? binding.TF_BOOL : binding.TF_FLOAT;
    const attributes = [
      { name: "batch_dims", type: binding.TF_ATTR_INT, value: batchDims },
      { name: "Tparams", type: binding.TF_ATTR_TYPE, value: type },
      int32("Tindices"),
      int32("Taxis"),
    ];
    const axisTensor = tf.scalar(axis, "int32");
    const result = backend.executeSingleOutput("GatherV2", attributes, [x, indices, axisTensor]);
    axisTensor.dispose();
    return result;
  });
}
