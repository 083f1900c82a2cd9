import { version_core } from "@tensorflow/tfjs-core";
import { version_layers } from "@tensorflow/tfjs-layers";
import { startWasmBackend } from "../../adapters/tfjs/wasm-backend";
import type { NumericsRecord } from "../../core/training/numerics";
import { buildModel } from "./build-model";
import { describeCpu } from "./cpu";
import type { Engine } from "./engine";
import { LayersTrainable } from "./layers-trainable";

/** The engine on WebAssembly: one thread whatever is asked for, and the same bits on every CPU of an architecture. */
export async function createWasmEngine(): Promise<Engine> {
  const backend = await startWasmBackend();
  const numerics: NumericsRecord = {
    backend: "wasm",
    device: "cpu",
    libraries: { "tfjs-core": version_core, "tfjs-layers": version_layers, "tfjs-backend-wasm": backend.version },
    threads: { intraOp: backend.threads, interOp: 1 },
    cpu: describeCpu(),
    switches: { simd: backend.simd ? "on" : "off" },
    node: process.version,
    platform: process.platform,
    arch: process.arch,
  };
  return {
    backend: "wasm",
    numerics: () => numerics,
    createModel: async (definition, seed) => new LayersTrainable(buildModel(definition, seed), definition),
  };
}
