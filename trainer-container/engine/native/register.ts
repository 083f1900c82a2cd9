import type { NativeBinding } from "../native-binding";
import { registerActivationGradients } from "./activation-gradients";
import { registerAdd } from "./add";
import { registerCrossEntropy } from "./cross-entropy";
import { registerMaxPool } from "./max-pool";
import type { NativeBackend } from "./op";
import { Operations } from "./operations";
import { sharesMemory } from "./shared-tensors";
import { convolutionWorks } from "./stages";

/** Bits depend on which kernels compute: a number that changes with any of this folder's. */
const kernelsVersion = "2";

/** What this process's native backend can do, for the numerics record as well. */
export interface NativeKernels {
  /** Of which built-in models the gradient is a program (`program.ts`) rather than the layers' tape: images take oneDNN's pooling. */
  readonly programs: "all" | "dense" | "none";
  readonly switches: Readonly<Record<string, string>>;
}

/** Puts faster kernels in the place of tfjs-node's, for users' models as well as built-in ones (docs/adr/012-engine-speed.md). */
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
