/** Random draws by TensorFlow's stateless operations: Philox 4×32-10 (Salmon et al. 2011), a function of shape and key. */
import * as tf from "@tensorflow/tfjs-core";
import { type Draw, installDraws } from "../draws";
import { attributesOf, type NativeBackend } from "./op";

export function registerDraws(backend: NativeBackend): void {
  const { binding } = backend;
  const { int32 } = attributesOf(binding);
  const attributes = [
    { name: "dtype", type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT },
    int32("T"),
    int32("Tseed"),
  ];
  const stateless =
    (op: string): Draw =>
    (shape, key) =>
      backend.executeSingleOutput(op, attributes, [tf.tensor1d([...shape], "int32"), key]);
  installDraws(stateless("StatelessRandomUniform"), stateless("StatelessRandomNormal"));
}
