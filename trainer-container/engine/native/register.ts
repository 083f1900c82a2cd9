import type * as tf from "@tensorflow/tfjs-core";
import { sparseCrossEntropyKernel } from "../score";
import { registerBatchNormalization } from "./batch-normalization";
import { registerDraws, registerMultinomial } from "./draws";
import { registerActivationGradients, registerAdd, registerBincount, registerGather } from "./elementwise";
import { registerFusedLstm } from "./fused-lstm";
import {
  attributesOf,
  hasOwnOperations,
  hasOwnProducts,
  type NativeBackend,
  Operations,
  replaceKernel,
} from "./operations";
import { sharesMemory } from "./shared-tensors";
import { registerExplicitPadding, registerMaxPool } from "./spatial";

/** Registers softmax cross-entropy of class indices: one operation takes `labels` and `logits`, and gives loss and gradient. */
function registerCrossEntropy(backend: NativeBackend): void {
  const { float, int32 } = attributesOf(backend.binding);
  const attributes = [float("T"), int32("Tlabels")];
  replaceKernel(sparseCrossEntropyKernel, ({ inputs }) => {
    const { labels, logits } = inputs as { labels: tf.TensorInfo; logits: tf.TensorInfo };
    return backend.executeMultipleOutputs("SparseSoftmaxCrossEntropyWithLogits", attributes, [logits, labels], 2);
  });
}

/** Version of this folder's kernels, of `gradients/` and of `layers/`. The bits depend on them, so any change of them changes it. */
const kernelsVersion = "17";

/** Version of recorded graphs (`engine/graph`). The bits depend on it. */
const graphVersion = "7";

/** Capabilities of this process's native backend, also for the numerics record. */
interface NativeKernels {
  /** Whether tensors can share memory with arrays. */
  readonly sharing: boolean;
  readonly switches: Readonly<Record<string, string>>;
}

/** Replaces kernels of tfjs-node by faster ones (docs/adr/006-engine.md). */
export function registerNativeKernels(backend: NativeBackend): NativeKernels {
  const { binding } = backend;
  const onCpu = !binding.isUsingGpuDevice();
  registerActivationGradients(backend);
  registerDraws(backend);
  registerExplicitPadding();
  registerBincount(backend);
  registerGather(backend);
  registerMultinomial();
  if (onCpu) {
    registerAdd(backend);
    registerBatchNormalization(backend); // its GPU kernel was never run
    registerFusedLstm(backend); // its GPU kernel was never run
    registerCrossEntropy(backend); // its GPU kernel is not deterministic in every version
  }
  const maxPool = onCpu && process.env["TF_ENABLE_ONEDNN_OPTS"] === "1" ? registerMaxPool(backend) : "stock";
  const sharing = onCpu && sharesMemory(binding, new Operations(binding));
  const switches = {
    kernels: kernelsVersion,
    maxPool,
    sharing: sharing ? "on" : "off",
    graph: graphVersion,
    operations: hasOwnOperations(binding) ? "own" : "stock",
    products: hasOwnProducts(binding) ? "own" : "stock",
  };
  return { sharing, switches };
}
