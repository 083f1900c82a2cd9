import * as path from "node:path";
import { bundleModule } from "../../cli/submission";
import type { UploadPort } from "../../core/ports";
import type { ModuleDefinition } from "../../core/runs/model-definition";
import { createEngine } from "../../trainer-container/engine/create-engine";
import { evaluateModule } from "../../trainer-container/host/load-module";
import { gradientsOf } from "../trainer/engine/models-of";

const model = path.join(__dirname, "../../examples/penguins/model.ts");

/** Two classes, which the first of two inputs determines. */
const batch = {
  inputs: Float32Array.of(-1, 0.5, 1, 0.5, -1, -0.5, 1, -0.5),
  labels: Int32Array.of(0, 1, 0, 1),
  rows: 4,
};

it("examples/penguins: its module is bundled as a submission does it, loads in a trainer, and learns", async () => {
  const stored = new Map<string, Uint8Array>();
  const uploads: UploadPort = {
    missing: async (references) => references.map(({ sha256 }) => sha256),
    put: async ({ sha256 }, source) => {
      if ("bytes" in source) stored.set(sha256, source.bytes);
    },
  };
  const { sha256: digest } = await bundleModule(model, uploads);
  const source = new TextDecoder().decode(stored.get(digest));
  const training = evaluateModule(source, "model.ts");
  const definition = {
    type: "module",
    inputShape: [2],
    outputs: 2,
    task: "classification",
    factory: training.model,
    metrics: training.metrics,
    hyperparameters: { units: 8 },
  } as unknown as ModuleDefinition;

  const engine = await createEngine({ preferred: "wasm", threads: 1 });
  const network = await engine.createModel(definition, 1);
  try {
    const weights = new Float32Array(network.parameterCount);
    const gradient = new Float32Array(network.parameterCount);
    const losses = Array.from({ length: 30 }, (_, step) => {
      const { loss, metrics } = gradientsOf(network, batch, `step ${step}`, gradient);
      expect(metrics?.["confidence"]).toBeGreaterThan(0.5 * batch.rows); // the likelier of two, summed over the rows
      network.readWeights(weights);
      network.writeWeights(weights.map((weight, i) => weight - 0.05 * (gradient[i] as number)));
      return loss / batch.rows;
    });
    expect(losses.at(-1)).toBeLessThan(0.2 * (losses[0] as number));
  } finally {
    network.dispose();
  }
});
