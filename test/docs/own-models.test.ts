/** Bundles the modules of docs/jobs.md as a submission does, and trains them. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleModule } from "../../cli/submission";
import type { ModuleDefinition } from "../../core/runs/model-definition";
import { createEngine } from "../../trainer-container/engine/create-engine";
import { evaluateModule } from "../../trainer-container/host/load-module";
import { gradientsOf } from "../trainer/engine/models-of";
import { blocksOf } from "./markdown";

const modules = blocksOf("docs/jobs.md")
  .map(({ lines }) => lines.join("\n"))
  .filter((text) => text.includes("export default defineTraining("));

const cases = [
  ["dense layers", [3], { units: 8 }],
  ["a transformer", [4, 3], {}],
  ["wide and deep", [3], {}],
] as const;

async function trainingOf(source: string) {
  const folder = mkdtempSync(join(tmpdir(), "own-models-"));
  try {
    const file = join(folder, "model.ts");
    writeFileSync(file, source);
    let bundle = "";
    await bundleModule(file, {
      missing: async (references) => references.map(({ sha256 }) => sha256),
      put: async (_, stored) => {
        if ("bytes" in stored) bundle = new TextDecoder().decode(stored.bytes);
      },
    });
    return evaluateModule(bundle, "model.ts");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it("tests every module of the page", () => {
  expect(modules).toHaveLength(cases.length);
});

it.each(cases.map((each, index) => [...each, index] as const))(
  "a module of the page learns: %s",
  async (_name, inputShape, hyperparameters, index) => {
    const { model: factory, metrics } = await trainingOf(modules[index] as string);
    const shape = { type: "module", inputShape, outputs: 2, task: "classification" };
    const definition = { ...shape, factory, metrics, hyperparameters } as unknown as ModuleDefinition;
    const engine = await createEngine({ preferred: "wasm", threads: 1 });
    const network = await engine.createModel(definition, 1);
    try {
      const size = inputShape.reduce((product: number, side: number) => product * side, 1);
      // The first number of a row determines its class; it is also a valid id.
      const inputs = Float32Array.from({ length: 8 * size }, (_, i) => (i % size === 0 ? (i / size) % 2 : Math.sin(i)));
      const batch = { inputs, labels: Int32Array.from({ length: 8 }, (_, row) => row % 2), rows: 8 };
      const weights = new Float32Array(network.parameterCount);
      const gradient = new Float32Array(network.parameterCount);
      const before = network.evaluate(batch).loss;
      for (let step = 0; step < 40; step += 1) {
        gradientsOf(network, batch, `step ${step}`, gradient);
        network.readWeights(weights);
        for (let i = 0; i < weights.length; i += 1) weights[i]! -= 0.02 * gradient[i]!;
        network.writeWeights(weights);
      }
      expect(network.evaluate(batch).loss).toBeLessThan(0.6 * before);
    } finally {
      network.dispose();
    }
  },
);
