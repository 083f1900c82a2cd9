import * as tf from "@tensorflow/tfjs-core";
import { version_layers } from "@tensorflow/tfjs-layers";
import type { NumericsRecord } from "../../core/runs/shapes";
import { buildModel } from "./build-model";
import { describeCpu } from "./cpu";
import type { Engine, EngineOptions } from "./engine";
import { BackendUnavailableError } from "./errors";
import { describeGpu } from "./gpu";
import { registerGradients } from "./gradients/register";
import { GraphProgram } from "./graph/program";
import { LayersTrainable } from "./layers-trainable";
import { MlpProgram } from "./mlp-program";
import { nativeBackendName as backendName, type NativeBackend } from "./native/op";
import { registerNativeKernels } from "./native/register";
import { SparseProgram } from "./native/sparse-program";
import { loadBinding, type NativeBinding, requireBinding } from "./native-binding";
import { applySettings, nativeSettings, switchesOf } from "./native-settings";
import { ProgramTrainable } from "./program-trainable";

/** The first engine of this process and its settings, which TensorFlow reads once. */
let started: { readonly key: string; readonly engine: Promise<Engine> } | undefined;

/**
 * Creates the engine on native TensorFlow, on the CPU or on the requested GPU.
 *
 * @throws BackendUnavailableError if the binding is missing, does not load, or does not run on that GPU
 */
export async function createNativeEngine(options: EngineOptions): Promise<Engine> {
  const device = options.gpu === undefined ? "CPU" : `GPU ${options.gpu}${options.tf32 === true ? " with TF32" : ""}`;
  const key = `${options.threads} threads, ${device}`;
  if (!started) {
    const engine = start(options);
    started = { key, engine };
    engine.catch(() => {
      if (tf.engine().backendName !== backendName) started = undefined; // nothing was loaded, so a retry is possible
    });
  }
  if (started.key === key) return started.engine;
  throw new BackendUnavailableError(
    `This process runs native TensorFlow with ${started.key}; it cannot start ${key} too.`,
  );
}

async function start(options: EngineOptions): Promise<Engine> {
  const { threads, gpu } = options;
  const active = tf.engine().backendName;
  if (active && active !== backendName) {
    throw new BackendUnavailableError(`This process already runs the TensorFlow.js backend '${active}'.`);
  }
  const file = requireBinding(gpu === undefined ? "cpu" : "gpu");
  const settings = nativeSettings(options, process.env);
  applySettings(settings);
  const binding = loadBinding(file);
  await registerBackend(binding);
  if (gpu !== undefined && !binding.isUsingGpuDevice()) {
    throw new BackendUnavailableError(
      `GPU ${gpu} was requested, but TensorFlow ${binding.TF_Version} runs on the CPU.`,
    );
  }
  const backend = tf.backend() as NativeBackend;
  registerGradients();
  const kernels = registerNativeKernels(backend);
  const numerics = record(
    binding,
    threads,
    { ...kernels.switches, ...switchesOf(settings) },
    gpu === undefined ? undefined : settings.CUDA_VISIBLE_DEVICES,
  );
  return {
    backend: "native",
    numerics: () => numerics,
    createModel: async (definition, seed) => {
      const model = new LayersTrainable(buildModel(definition, seed), definition);
      if (definition.type === "module" && definition.graph === false) {
        for (const pass of ["gradients", "evaluation"] as const) {
          options.onExecution?.({ pass, engine: "tape", reason: new Error("graph is false in defineTraining") });
        }
        return model;
      }
      const graph = new GraphProgram(backend, definition, model, kernels.sharing, options.onExecution);
      const takesSparse = definition.type === "mlp" && !definition.dropout && kernels.sharing;
      const sparse = takesSparse ? new SparseProgram(binding, definition, model.layout) : undefined;
      return new ProgramTrainable(model, sparse ? new MlpProgram(graph, sparse) : graph);
    },
  };
}

/** Does the work of the package's entry, without its search for the binding inside `node_modules`. */
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
    switches,
    node: process.version,
    platform: process.platform,
    arch: process.arch,
  };
}
