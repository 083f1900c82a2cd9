import { execFileSync } from "node:child_process";
import { BackendUnavailableError } from "./errors";

export interface GpuDescription {
  readonly model: string;
  readonly driver: string;
}

/**
 * Returns the value of CUDA_VISIBLE_DEVICES that shows only one GPU of those that this process may see. The binding takes
 * the last visible GPU, and silently the CPU if there is none.
 */
export function visibleDevices(gpu: number | undefined, current: string | undefined): string {
  if (gpu === undefined) return "-1";
  const allowed = current === undefined || current === "" || current === "all" ? undefined : current.split(",");
  if (!allowed) return String(gpu);
  const device = allowed[gpu]?.trim();
  if (device === undefined || device === "-1") {
    throw new BackendUnavailableError(
      `GPU ${gpu} was requested, but CUDA_VISIBLE_DEVICES shows ${allowed.length}: ${current}.`,
    );
  }
  return device;
}

/** Reads the model and driver of a device from nvidia-smi; `unknown` if that fails. */
export function describeGpu(device: string): GpuDescription {
  try {
    const query = ["--query-gpu=name,driver_version", "--format=csv,noheader", "-i", device];
    const output = execFileSync("nvidia-smi", query, { encoding: "utf8", timeout: 10_000, stdio: "pipe" });
    const [model = "unknown", driver = "unknown"] = output.trim().split(/\s*,\s*/);
    return { model, driver };
  } catch {
    return { model: "unknown", driver: "unknown" };
  }
}
