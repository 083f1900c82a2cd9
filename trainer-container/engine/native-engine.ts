import * as tf from "@tensorflow/tfjs-core";
import { version_layers } from "@tensorflow/tfjs-layers";
import type { SparseInputs } from "../../core/features/sparse";
import type { NumericsRecord } from "../../core/runs/shapes";
import { buildModel } from "./build-model";
import { describeCpu } from "./cpu";
import {
  type Batch,
  type BatchResult,
  type Engine,
  type EngineOptions,
  type OptimizerSettings,
  passOfOne,
} from "./engine";
import { BackendUnavailableError, ModelError, needsGraph } from "./errors";
import { registerGradients } from "./gradients/register";
import { GraphProgram } from "./graph/program";
import { unroundedProducts } from "./graph/rewrites/precision";
import { installDense } from "./layers/dense";
import { LayersTrainable } from "./layers-trainable";
import { nativeBackendName as backendName, type NativeBackend } from "./native/operations";
import { registerNativeKernels } from "./native/register";
import { SparseProgram } from "./native/sparse-program";
import { loadBinding, type NativeBinding, requireBinding } from "./native-binding";
import { applySettings, describeGpu, nativeSettings, switchesOf } from "./native-settings";
import {
  type GradientProgram,
  type OptimizerMemory,
  type ProgramOptimizer,
  type ProgramPass,
  ProgramTrainable,
} from "./program-trainable";

/** The passes of a built-in mlp: graphs for dense rows, and a program for the gradients from sparse rows. */
class MlpProgram implements GradientProgram {
  readonly takesSparse = true;
  readonly weights: GradientProgram["weights"];

  constructor(
    private readonly graph: GraphProgram,
    private readonly sparse: SparseProgram,
  ) {
    const both = [graph.weights, sparse.weights];
    this.weights = {
      write: (from) => {
        for (const weights of both) weights.write(from);
      },
      read: (into) => graph.weights.read(into),
      share: (memory) => {
        for (const weights of both) weights.share(memory);
      },
    };
  }

  get maxSum(): number {
    return this.graph.maxSum;
  }

  scaleLoss(scale: number): void {
    this.graph.scaleLoss(scale);
    this.sparse.lossScale = scale;
  }

  begin(microBatches: number): ProgramPass {
    const dense = this.graph.begin(microBatches);
    const sparse = passOfOne(({ sparse: inputs, ...batch }, _, into, onFinal) =>
      this.sparse.gradients(batch, inputs as SparseInputs, into, onFinal),
    );
    let pass: ProgramPass = dense;
    return {
      add: (batch, randomKey) => {
        if (batch.sparse) pass = sparse;
        pass.add(batch, randomKey);
      },
      gradients: (into, onFinal) => pass.gradients(into, onFinal),
      step: (update) => dense.step(update),
    };
  }

  attachOptimizer(settings: OptimizerSettings, memory: OptimizerMemory): ProgramOptimizer {
    return this.graph.attachOptimizer(settings, memory);
  }

  evaluate(batch: Batch): BatchResult | undefined {
    return this.graph.evaluate(batch);
  }

  dispose(): void {
    this.graph.dispose();
    this.sparse.dispose();
  }
}

/** TensorFlow in this process. */
interface Library {
  readonly backend: NativeBackend;
  /** See `sharesMemory`. */
  readonly sharing: boolean;
  readonly numerics: NumericsRecord;
}

/** TensorFlow and its settings, which it reads once. */
let started: { readonly key: string; readonly library: Promise<Library> } | undefined;

/** @throws BackendUnavailableError if the binding is missing, does not load, or does not run on that GPU */
export async function createNativeEngine(options: EngineOptions): Promise<Engine> {
  const device = options.gpu === undefined ? "CPU" : `GPU ${options.gpu}${options.tf32 === true ? " with TF32" : ""}`;
  const key = `${options.threads} threads, ${device}`;
  if (!started) {
    const library = start(options);
    started = { key, library };
    library.catch(() => {
      if (tf.engine().backendName !== backendName) started = undefined; // nothing was loaded, so a retry is possible
    });
  }
  if (started.key === key) return engineOf(await started.library, options);
  throw new BackendUnavailableError(
    `This process runs native TensorFlow with ${started.key}; it cannot start ${key} too.`,
  );
}

async function start(options: EngineOptions): Promise<Library> {
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
  installDense();
  const kernels = registerNativeKernels(backend);
  const numerics = record(
    binding,
    threads,
    { ...kernels.switches, ...switchesOf(settings) },
    gpu === undefined ? undefined : settings.CUDA_VISIBLE_DEVICES,
  );
  return { backend, sharing: kernels.sharing, numerics };
}

function engineOf(
  { backend, sharing, numerics }: Library,
  { precision, onExecution, onChangingModel, onKeptTensors }: EngineOptions,
): Engine {
  const rounding = precision && {
    precision,
    products: numerics.device === "gpu" ? precision : `float32 of ${precision} factors`,
    float32Products: unroundedProducts.join(),
  };
  const switches = { ...numerics.switches, ...rounding };
  const record = { ...numerics, switches };
  return {
    backend: "native",
    numerics: () => record,
    createModel: async (definition, seed) => {
      const withoutGraph = definition.type === "module" && definition.graph === false;
      const reason = "graph is false in defineTraining";
      if (withoutGraph && precision) throw new ModelError(needsGraph(precision, reason));
      const model = new LayersTrainable(buildModel(definition, seed), definition, { onChangingModel, onKeptTensors });
      if (withoutGraph) {
        for (const pass of ["gradients", "evaluation"] as const) {
          onExecution?.({ pass, engine: "tape", reason: new Error(reason), declined: true });
        }
        return model;
      }
      const roundsFactors = numerics.device === "gpu" && numerics.switches["tf32"] === "on";
      const graph = new GraphProgram(backend, definition, model, sharing, onExecution, precision, roundsFactors);
      const takesSparse = definition.type === "mlp" && !definition.dropout && sharing && !precision;
      const sparse = takesSparse ? new SparseProgram(backend.binding, definition, model.layout) : undefined;
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
