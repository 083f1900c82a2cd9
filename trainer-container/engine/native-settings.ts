import { execFileSync } from "node:child_process";
import type { EngineOptions } from "./engine";
import { BackendUnavailableError } from "./errors";

interface GpuDescription {
  readonly model: string;
  readonly driver: string;
}

/** Returns a CUDA_VISIBLE_DEVICES that shows one GPU. The binding takes the last visible one, and silently the CPU. */
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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * TensorFlow's settings, read from the environment on load; `undefined`: must not be set. Operations run one at a time,
 * kernels are deterministic unless the environment chooses, and the job alone decides on TF32.
 */
export function nativeSettings({ threads, gpu, tf32 = false }: EngineOptions, environment: Environment): Environment {
  const defaults = {
    TF_DETERMINISTIC_OPS: "1",
    TF_USE_DETERMINISTIC_SEGMENT_REDUCTIONS: "1", // on GPUs; without it, sums of segments fail or depend on timing
    TF_ENABLE_ONEDNN_OPTS: "1",
    TF_FORCE_GPU_ALLOW_GROWTH: "true",
    TF_CPP_MIN_LOG_LEVEL: "2",
  };
  return {
    TF_NUM_INTRAOP_THREADS: String(threads),
    TF_NUM_INTEROP_THREADS: "1",
    // By the device, not by the library: a library for GPUs also serves CPUs, with the same bits. On GPUs it chooses layouts of images.
    RINGMASTER_GRAPH_OPTIMIZER: gpu === undefined ? "off" : "on",
    CUDA_VISIBLE_DEVICES: visibleDevices(gpu, environment.CUDA_VISIBLE_DEVICES),
    NVIDIA_TF32_OVERRIDE: tf32 ? undefined : "0",
    ...Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, environment[name] ?? value])),
  };
}

export function switchesOf(settings: Environment): Readonly<Record<string, string>> {
  const onWhere = (on: boolean): string => (on ? "on" : "off");
  return {
    deterministicOps: onWhere(settings.TF_DETERMINISTIC_OPS === "1"),
    tf32: onWhere(settings.NVIDIA_TF32_OVERRIDE !== "0"),
    onednn: onWhere(settings.TF_ENABLE_ONEDNN_OPTS === "1"),
  };
}

export function applySettings(settings: Environment): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
