/** The operations of the binding: those of TensorFlow, and our own where they exist. */
import * as tf from "@tensorflow/tfjs-core";
import { canonicalAdditions } from "../../reduction/plan";
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

/** A tensor of the binding, by its number. */
export type TensorId = number;

/** Calls TensorFlow's operations without TensorFlow.js: 5 µs each instead of about 20. Tensors live until `release`. */
export class Operations {
  private live: TensorId[] = [];
  private readonly constants = new Map<string, TensorId>();

  constructor(private readonly binding: NativeBinding) {}

  run(op: string, attributes: readonly OpAttribute[], inputs: readonly TensorId[]): TensorId {
    return this.runFor(op, attributes, inputs, 1)[0] as TensorId;
  }

  runFor(op: string, attributes: readonly OpAttribute[], inputs: readonly TensorId[], outputs: number): TensorId[] {
    const ids = this.binding.executeOp(op, attributes, inputs, outputs).map(({ id }) => id);
    this.live.push(...ids);
    return ids;
  }

  /** Shares the memory of `values` if it is aligned: they must not change until `release`. */
  tensor(shape: readonly number[], values: Float32Array | Int32Array): TensorId {
    const { TF_FLOAT, TF_INT32 } = this.binding;
    const id = this.binding.createTensor(shape, values instanceof Int32Array ? TF_INT32 : TF_FLOAT, values);
    this.live.push(id);
    return id;
  }

  indices(labels: ArrayLike<number>): TensorId {
    const id = this.binding.createTensor([labels.length], this.binding.TF_INT32, Int32Array.from(labels));
    this.live.push(id);
    return id;
  }

  /** Returns a list of whole numbers, e.g. a shape; kept until `dispose`. */
  integers(values: readonly number[]): TensorId {
    const key = values.join();
    let id = this.constants.get(key);
    if (id === undefined) {
      id = this.binding.createTensor([values.length], this.binding.TF_INT32, Int32Array.from(values));
      this.constants.set(key, id);
    }
    return id;
  }

  /** Takes over tensors that were created elsewhere. */
  adopt(ids: readonly TensorId[]): void {
    this.live.push(...ids);
  }

  read(id: TensorId): Float32Array {
    return this.binding.tensorDataSync(id) as Float32Array;
  }

  release(): void {
    for (const id of this.live) this.binding.deleteTensor(id);
    this.live = [];
  }

  dispose(): void {
    this.release();
    for (const id of this.constants.values()) this.binding.deleteTensor(id);
    this.constants.clear();
  }
}

/** Whether the binding has our operations and TensorFlow is on a CPU. Tested on a gradient of 0.5 that counts twice. */
export function hasOwnOperations(binding: NativeBinding): boolean {
  if (binding.isUsingGpuDevice()) return false;
  const operations = new Operations(binding);
  const vector = (...values: readonly number[]) => operations.tensor([values.length], Float32Array.from(values));
  try {
    const [weight, first, second, gradient, loss] = [vector(0.5), vector(0.5), vector(0.5), vector(0.5), vector(0.5)];
    const constants = vector(2, 0, 1, 0, 0, 1, 1, 0, 0);
    const inputs = [constants, loss, weight, first, second, gradient, operations.integers([])];
    const attributes = ["N", "G"].map((name) => ({ ...attributesOf(binding).integers(name, []), value: 1 }));
    const [norm, skipped] = operations.read(operations.run("RingmasterAdam", attributes, inputs));
    return norm === 1 && skipped === 0;
  } catch {
    return false; // another build of the binding
  } finally {
    operations.dispose();
  }
}

/** Whether there are our products of matrices, too, which need a CPU with AVX-512. Tested on 0.5 × 0.5. */
export function hasOwnProducts(binding: NativeBinding): boolean {
  if (binding.isUsingGpuDevice()) return false;
  const operations = new Operations(binding);
  const { flag, integers } = attributesOf(binding);
  try {
    const factor = operations.tensor([1, 1], Float32Array.of(0.5));
    const attributes = [flag("relu", false), { ...integers("N", []), value: 0 }];
    return operations.read(operations.run("RingmasterDense", attributes, [factor, factor]))[0] === 0.25;
  } catch {
    return false;
  } finally {
    operations.dispose();
  }
}

/** Adds vectors in the canonical order. */
export function treeSum(backend: NativeBackend, terms: readonly tf.Tensor[]): tf.Tensor {
  const { integers } = attributesOf(backend.binding);
  const additions = canonicalAdditions(terms.length).flatMap(({ into, from }) => [into, from]);
  const attributes = [{ ...integers("N", []), value: terms.length }, integers("additions", additions)];
  return backend.executeSingleOutput("RingmasterTreeSum", attributes, terms);
}
