import type * as tf from "@tensorflow/tfjs-core";
import { canonicalAdditions } from "../../reduction/tree";
import type { NativeBinding } from "../native-binding";
import { attributesOf, type NativeBackend } from "./op";
import { Operations } from "./operations";

/**
 * Whether the binding contains the operations of `scripts/native/operations/` and TensorFlow is on a CPU. Tested on one
 * weight of 0.5, whose gradient of 0.5 counts twice.
 */
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
