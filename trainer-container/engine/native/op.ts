import * as tf from "@tensorflow/tfjs-core";
import type { NativeBinding } from "../native-binding";

export const nativeBackendName = "tensorflow";

export interface OpAttribute {
  readonly name: string;
  readonly type: number;
  readonly value: unknown;
}

/** The part of tfjs-node's backend that kernels use. */
export interface NativeBackend extends tf.KernelBackend {
  readonly binding: NativeBinding;
  /** Returns the tensor of an output of `binding.executeOp`. */
  createOutputTensor(output: { readonly id: number; readonly dtype: number }): tf.Tensor;
  /** Returns the binding's numbers of tensors. */
  getInputTensorIds(tensors: readonly tf.TensorInfo[]): number[];
  executeSingleOutput(op: string, attributes: readonly OpAttribute[], inputs: readonly tf.TensorInfo[]): tf.Tensor;
  executeMultipleOutputs(
    op: string,
    attributes: readonly OpAttribute[],
    inputs: readonly tf.TensorInfo[],
    outputs: number,
  ): tf.Tensor[];
}

/** Returns attributes by TensorFlow's kinds. */
export function attributesOf(binding: NativeBinding) {
  return {
    float: (name: string): OpAttribute => ({ name, type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT }),
    int32: (name: string): OpAttribute => ({ name, type: binding.TF_ATTR_TYPE, value: binding.TF_INT32 }),
    integers: (name: string, value: readonly number[]): OpAttribute => ({ name, type: binding.TF_ATTR_INT, value }),
    text: (name: string, value: string): OpAttribute => ({ name, type: binding.TF_ATTR_STRING, value }),
    flag: (name: string, value: boolean): OpAttribute => ({ name, type: binding.TF_ATTR_BOOL, value }),
  };
}

/** Replaces the native backend's stock kernel, if there is one. */
export function replaceKernel(kernelName: string, kernelFunc: tf.KernelFunc): void {
  if (tf.getKernel(kernelName, nativeBackendName)) tf.unregisterKernel(kernelName, nativeBackendName);
  tf.registerKernel({ kernelName, backendName: nativeBackendName, kernelFunc });
}
