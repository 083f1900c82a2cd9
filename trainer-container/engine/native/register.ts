import { registerActivationGradients } from "./activation-gradients";
import { registerAdd } from "./add";
import { registerCrossEntropy } from "./cross-entropy";
import { registerMaxPool } from "./max-pool";
import type { NativeBackend } from "./op";

/** Bits depend on which kernels compute: a number that changes with any of this folder's. */
const kernelsVersion = "1";

/**
 * Puts faster kernels in the place of tfjs-node's, for users' models as well as built-in ones (docs/adr/012-engine-speed.md).
 *
 * @returns switches for the numerics record.
 */
export function registerNativeKernels(backend: NativeBackend): Readonly<Record<string, string>> {
  registerActivationGradients(backend);
  registerAdd();
  registerCrossEntropy(backend);
  const onednn = process.env["TF_ENABLE_ONEDNN_OPTS"] === "1" && !backend.binding.isUsingGpuDevice();
  return { kernels: kernelsVersion, maxPool: onednn ? registerMaxPool(backend) : "stock" };
}
