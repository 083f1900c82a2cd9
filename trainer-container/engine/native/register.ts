import type { NativeBinding } from "../native-binding";
import { registerActivationGradients } from "./activation-gradients";
import { registerAdd } from "./add";
import { registerCrossEntropy } from "./cross-entropy";
import { registerMaxPool } from "./max-pool";
import type { NativeBackend } from "./op";
import { Operations } from "./operations";
import { sharesMemory } from "./shared-tensors";
import { convolutionWorks } from "./stages";

/** Version of this folder's kernels. The bits depend on them, so any change of a kernel changes it. */
const kernelsVersion = "2";

/** Capabilities of this process's native backend, also for the numerics record. */
export interface NativeKernels {
  /** Built-in models whose gradient is a program (`program.ts`) instead of the layers' tape. Images need oneDNN's pooling. */
  readonly programs: "all" | "dense" | "none";
  readonly switches: Readonly<Record<string, string>>;
}

/** Replaces kernels of tfjs-node by faster ones, for user models and built-in ones (docs/adr/012-engine-speed.md). */
export function registerNativeKernels(backend: NativeBackend): NativeKernels {
  const { binding } = backend;
  const onCpu = !binding.isUsingGpuDevice();
  registerActivationGradients(backend);
  if (onCpu) {
    registerAdd();
    registerCrossEntropy(backend); // its GPU kernel is not deterministic in every version
  }
  const maxPool = onCpu && process.env["TF_ENABLE_ONEDNN_OPTS"] === "1" ? registerMaxPool(backend) : "stock";
  const programs = onCpu ? programsOf(binding, maxPool) : "none";
  return { programs, switches: { kernels: kernelsVersion, maxPool, programs } };
}

function programsOf(binding: NativeBinding, maxPool: "onednn" | "stock"): NativeKernels["programs"] {
  const operations = new Operations(binding);
  if (!sharesMemory(binding, operations)) return "none";
  return maxPool === "onednn" && convolutionWorks(binding, operations) ? "all" : "dense";
}
