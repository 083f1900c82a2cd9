import * as tf from "@tensorflow/tfjs-core";
import { version_layers } from "@tensorflow/tfjs-layers";
import type { NumericsRecord } from "../../core/training/numerics";
import { buildModel } from "./build-model";
import { describeCpu } from "./cpu";
import type { Engine, EngineOptions } from "./engine";
import { BackendUnavailableError } from "./errors";
import { describeGpu, visibleDevices } from "./gpu";
import { LayersTrainable } from "./layers-trainable";
import { nativeBackendName as backendName, type NativeBackend } from "./native/op";
import { isProgrammable, NativeProgram } from "./native/program";
import { registerNativeKernels } from "./native/register";
import { loadBinding, type NativeBinding, requireBinding } from "./native-binding";
import { ProgramTrainable } from "./program-trainable";

/** What the first engine of this process was started with; TensorFlow reads its settings once. */
let started: { readonly key: string; readonly engine: Promise<Engine> } | undefined;

/**
 * The engine on native TensorFlow, on the CPU or on the one GPU asked for.
 *
 * @throws BackendUnavailableError when the binding is not there, does not load, or does not run on that GPU.
 */
export async function createNativeEngine(options: EngineOptions): Promise<Engine> {
  const key = `${options.threads} threads, ${options.gpu === undefined ? "CPU" : `GPU ${options.gpu}`}`;
  if (!started) {
    const engine = start(options);
    started = { key, engine };
    engine.catch(() => {
      if (tf.engine().backendName !== backendName) started = undefined; // nothing was loaded: it may be tried again
    });
  }
  if (started.key === key) return started.engine;
  throw new BackendUnavailableError(
    `This process runs native TensorFlow with ${started.key}; it cannot start ${key} too.`,
  );
}

async function start({ threads, gpu }: EngineOptions): Promise<Engine> {
  const active = tf.engine().backendName;
  if (active && active !== backendName) {
    throw new BackendUnavailableError(`This process already runs the TensorFlow.js backend '${active}'.`);
  }
  const file = requireBinding(gpu === undefined ? "cpu" : "gpu");
  const environment = configure(threads, gpu);
  const binding = loadBinding(file);
  await registerBackend(binding);
  if (gpu !== undefined && !binding.isUsingGpuDevice()) {
    throw new BackendUnavailableError(
      `GPU ${gpu} was asked for, but TensorFlow ${binding.TF_Version} runs on the CPU.`,
    );
  }
  const kernels = registerNativeKernels(tf.backend() as NativeBackend);
  const numerics = record(
    binding,
    threads,
    kernels.switches,
    gpu === undefined ? undefined : environment.CUDA_VISIBLE_DEVICES,
  );
  return {
    backend: "native",
    numerics: () => numerics,
    createModel: async (definition, seed) => {
      const model = new LayersTrainable(buildModel(definition, seed), definition);
      return isProgrammable(definition, kernels)
        ? new ProgramTrainable(model, new NativeProgram(binding, definition, model.layout))
        : model;
    },
  };
}

/**
 * TensorFlow's settings, which it takes from the environment when it is loaded. One operation at a time: the JavaScript side
 * issues them one by one anyway. Deterministic kernels and full float32 products unless the user has chosen otherwise.
 */
function configure(threads: number, gpu: number | undefined): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {
    TF_NUM_INTRAOP_THREADS: String(threads),
    TF_NUM_INTEROP_THREADS: "1",
    CUDA_VISIBLE_DEVICES: visibleDevices(gpu, process.env.CUDA_VISIBLE_DEVICES),
  };
  const defaults: Record<string, string> = {
    TF_DETERMINISTIC_OPS: "1",
    NVIDIA_TF32_OVERRIDE: "0",
    TF_ENABLE_ONEDNN_OPTS: "1",
    TF_FORCE_GPU_ALLOW_GROWTH: "true",
    TF_CPP_MIN_LOG_LEVEL: "2",
  };
  for (const [name, value] of Object.entries(defaults)) settings[name] = process.env[name] ?? value;
  Object.assign(process.env, settings);
  return settings;
}

/** What the package's entry does, less its search for the binding inside `node_modules`. */
async function registerBackend(binding: NativeBinding): Promise<void> {
  require("@tensorflow/tfjs-node-gpu/dist/register_all_kernels");
  const { NodeJSKernelBackend } = require("@tensorflow/tfjs-node-gpu/dist/nodejs_kernel_backend") as {
    readonly NodeJSKernelBackend: new (binding: NativeBinding, packageName: string) => tf.KernelBackend;
  };
  const packageName = binding.isUsingGpuDevice() ? "@tensorflow/tfjs-node-gpu" : "@tensorflow/tfjs-node";
  tf.registerBackend(backendName, () => new NodeJSKernelBackend(binding, packageName), 3);
  await tf.setBackend(backendName);
}

function record(
  binding: NativeBinding,
  threads: number,
  switches: Readonly<Record<string, string>>,
  device: string | undefined,
): NumericsRecord {
  const { version } = require("@tensorflow/tfjs-node-gpu/package.json") as { version: string };
  return {
    backend: "native",
    device: device === undefined ? "cpu" : "gpu",
    libraries: {
      "tfjs-core": tf.version_core,
      "tfjs-layers": version_layers,
      "tfjs-node": version,
      tensorflow: binding.TF_Version,
    },
    threads: { intraOp: threads, interOp: 1 },
    cpu: describeCpu(),
    ...(device === undefined ? {} : { gpu: describeGpu(device) }),
    switches: {
      ...switches,
      deterministicOps: process.env.TF_DETERMINISTIC_OPS === "1" ? "on" : "off",
      tf32: process.env.NVIDIA_TF32_OVERRIDE === "0" ? "off" : "on",
      onednn: process.env.TF_ENABLE_ONEDNN_OPTS === "1" ? "on" : "off",
    },
    node: process.version,
    platform: process.platform,
    arch: process.arch,
  };
}
