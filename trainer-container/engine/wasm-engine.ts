import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { version_layers } from "@tensorflow/tfjs-layers";
import type { NumericsRecord } from "../../core/runs/shapes";
import { simdOf } from "../tfjs/simd/simd";
import { startWasmBackend } from "../tfjs/wasm-backend";
import { buildModel } from "./build-model";
import { describeCpu } from "./cpu";
import type { Engine, EngineOptions } from "./engine";
import { registerGradients } from "./gradients/register";
import { LayersTrainable } from "./layers-trainable";
import { ProgramTrainable } from "./program-trainable";
import { installDropout } from "./wasm/dropout";
import { isProgrammable, WasmProgram } from "./wasm/program";
import { simdInSumMemory } from "./wasm/sum-memory-simd";

/** Creates the engine on WebAssembly. It has one thread, and gives the same bits on every CPU of an architecture. */
export async function createWasmEngine({
  onChangingModel,
  onKeptTensors,
}: Pick<EngineOptions, "onChangingModel" | "onKeptTensors"> = {}): Promise<Engine> {
  const backend = await startWasmBackend();
  registerGradients();
  installDropout();
  const numerics: NumericsRecord = {
    backend: "wasm",
    device: "cpu",
    libraries: { "tfjs-core": tf.version_core, "tfjs-layers": version_layers, "tfjs-backend-wasm": backend.version },
    threads: { intraOp: backend.threads, interOp: 1 },
    cpu: describeCpu(),
    switches: { simd: backend.simd ? "on" : "off", kernels: backend.kernels, multiplyAdd: backend.multiplyAdd },
    node: process.version,
    platform: process.platform,
    arch: process.arch,
  };
  return {
    backend: "wasm",
    numerics: () => numerics,
    createModel: async (definition, seed) => {
      const model = new LayersTrainable(buildModel(definition, seed), definition, { onChangingModel, onKeptTensors });
      if (!isProgrammable(definition)) return model;
      const simd = simdInSumMemory() ?? simdOf(tf.backend() as BackendWasm);
      return new ProgramTrainable(model, new WasmProgram(simd, definition, model.layout));
    },
  };
}
