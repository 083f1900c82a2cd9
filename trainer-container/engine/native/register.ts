import type { NativeBinding } from "../native-binding";
import { registerActivationGradients } from "./activation-gradients";
import { registerAdd } from "./add";
import { registerCrossEntropy } from "./cross-entropy";
import { registerDraws } from "./draws";
import { registerGather } from "./gather";
import { registerMaxPool } from "./max-pool";
import type { NativeBackend } from "./op";
import { Operations } from "./operations";
import { sharesMemory } from "./shared-tensors";
import { convolutionWorks } from "./stages";

/** Version of this folder's kernels and of `gradients/`. The bits depend on them, so any change of them changes it. */
const kernelsVersion = "4";

/** Version of recorded graphs (`engine/graph`). The bits depend on it. */
const graphVersion = "1";

/** Capabilities of this process's native backend, also for the numerics record. */
export interface NativeKernels {
  /** Built-in models whose gradient is a program (`program.ts`) instead of the layers' tape. Images need oneDNN's pooling. */
  readonly programs: "all" | "dense" | "none";
  /** Whether tensors can share memory with arrays. */
  readonly sharing: boolean;
  readonly switches: Readonly<Record<string, string>>;
}

/** Replaces kernels of tfjs-node by faster ones, for user models and built-in ones (docs/adr/012-engine-speed.md). */
export function registerNativeKernels(backend: NativeBackend): NativeKernels {
  const { binding } = backend;
  const onCpu = !binding.isUsingGpuDevice();
  registerActivationGradients(backend);
  registerDraws(backend);
  if (onCpu) {
    registerAdd();
    registerGather(backend); // on a GPU an index out of range would give zeros
    registerCrossEntropy(backend); // its GPU kernel is not deterministic in every version
  }
  const maxPool = onCpu && process.env["TF_ENABLE_ONEDNN_OPTS"] === "1" ? registerMaxPool(backend) : "stock";
  const operations = new Operations(binding);
  const sharing = onCpu && sharesMemory(binding, operations);
  const programs = sharing ? programsOf(binding, operations, maxPool) : "none";
  return { programs, sharing, switches: { kernels: kernelsVersion, maxPool, programs, graph: graphVersion } };
}

function programsOf(
  binding: NativeBinding,
  operations: Operations,
  maxPool: "onednn" | "stock",
): NativeKernels["programs"] {
  return maxPool === "onednn" && convolutionWorks(binding, operations) ? "all" : "dense";
}
