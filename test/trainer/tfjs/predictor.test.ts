import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import * as tf from "@tensorflow/tfjs-core";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { encodeSafetensors } from "../../../core/safetensors";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { TrainableModel } from "../../../trainer-container/engine/engine";
import { loadPredictor, type ModelArtifact } from "../../../trainer-container/tfjs/predictor";
import { bundleScript, packages } from "../../support/bundle";
import { temporaryFolder } from "../../support/temporary-folder";
import { cnn, mlp, randomBatch } from "../engine/contract";
import { moduleOf, stack } from "../engine/models-of";
import { ownBatch, ownModules } from "../engine/own-layers-contract";

function artifactOf(model: TrainableModel): ModelArtifact {
  const flat = new Float32Array(model.parameterCount);
  model.readWeights(flat);
  const tensors = Object.fromEntries(
    model.layout.map(({ name, shape, offset, size }) => [
      name,
      { dtype: "F32" as const, shape, data: flat.slice(offset, offset + size) },
    ]),
  );
  return { topology: model.topology(), weights: encodeSafetensors({ tensors }) };
}

async function train(definition: ModelDefinition): Promise<TrainableModel> {
  const engine = await createEngine({ preferred: "wasm", threads: 1 });
  return engine.createModel(definition, 5);
}

const withStatistics = moduleOf(
  stack((layers, { outputs }) => [
    layers.dense({ units: 4, inputShape: [6] }),
    layers.batchNormalization(),
    layers.dense({ units: outputs }),
  ]),
);

const frozenInside = moduleOf(({ tf: { sequential, layers }, outputs }) => {
  const encoder = sequential({
    layers: [
      layers.dense({ units: 4, inputShape: [6] }),
      layers.reshape({ targetShape: [2, 2] }),
      layers.bidirectional({ layer: layers.gru({ units: 3 }), mergeMode: "concat" }),
      layers.batchNormalization(),
    ],
  });
  encoder.trainable = false;
  return sequential({ layers: [encoder, layers.dense({ units: outputs })] });
});

const incompleteClasses = moduleOf(
  stack((layers, { outputs }) => [
    layers.separableConv2d({ filters: 3, kernelSize: 3, depthMultiplier: 2, inputShape: [6, 6, 2] }),
    layers.activation({ activation: "gelu_new" as never }),
    layers.flatten(),
    layers.dense({ units: outputs }),
  ]),
  { inputShape: [6, 6, 2] },
);

const volumes = moduleOf(
  stack((layers, { outputs }) => [
    layers.reshape({ targetShape: [1, 2, 1, 3], inputShape: [6] }),
    layers.batchNormalization({ gammaInitializer: "randomNormal", betaInitializer: "randomNormal" }),
    layers.batchNormalization({ axis: 2, scale: false, center: false }),
    layers.flatten(),
    layers.dense({ units: outputs }),
  ]),
);

describe("loadPredictor", () => {
  it.each<readonly [string, ModelDefinition]>([
    ["mlp", { ...mlp, dropout: 0.5 }],
    ["cnn", cnn],
    ["binary", { ...mlp, task: "binary", outputs: 1 }],
    ["regression", { ...mlp, task: "regression" }],
    ["a module with running statistics", withStatistics],
    ["a module with a frozen model inside", frozenInside],
    ["a module that normalizes volumes", volumes],
    ["a module with classes that TensorFlow.js serializes incompletely", incompleteClasses],
    ...ownModules,
  ])("predicts what the trained model predicts, to the bit: %s", async (_, definition) => {
    const model = await train(definition);
    const { inputs } = ownBatch(definition);
    const predictor = await loadPredictor(artifactOf(model));
    expect(Array.from(predictor.predict(inputs, 4))).toEqual(Array.from(model.predict(inputs, 4)));
    predictor.dispose();
    model.dispose();
  });

  it("splits many rows into passes and leaks nothing", async () => {
    const model = await train(mlp);
    const predictor = await loadPredictor(artifactOf(model));
    const { inputs } = randomBatch(mlp, 2500);
    const before = tf.memory().numTensors;
    const all = predictor.predict(inputs, 2500);
    expect(tf.memory().numTensors).toBe(before);
    expect(all).toHaveLength(2500 * 3);
    const last = predictor.predict(inputs.slice(2499 * 6), 1);
    expect(Array.from(all.slice(2499 * 3))).toEqual(Array.from(last));
    expect(predictor.predict(new Float32Array(0), 0)).toHaveLength(0);
    predictor.dispose();
    model.dispose();
  });

  it("frees everything on dispose", async () => {
    const model = await train(withStatistics);
    const artifact = artifactOf(model);
    const before = tf.memory().numTensors;
    (await loadPredictor(artifact)).dispose();
    expect(tf.memory().numTensors).toBe(before);
    model.dispose();
  });

  describe("refuses", () => {
    let artifact: ModelArtifact;
    beforeAll(async () => {
      artifact = artifactOf(await train(mlp));
    });

    const edited = (change: (topology: Record<string, unknown>) => void): ModelArtifact => {
      const topology = JSON.parse(artifact.topology) as Record<string, unknown>;
      change(topology);
      return { ...artifact, topology: JSON.stringify(topology) };
    };

    it.each<[string, () => ModelArtifact, RegExp]>([
      ["text that is not JSON", () => ({ ...artifact, topology: "{" }), /not JSON/],
      ["another format", () => edited((t) => Object.assign(t, { format: "x" })), /format = "x".*layers-model@1/],
      ["a task it does not know", () => edited((t) => Object.assign(t, { task: "ranking" })), /task = "ranking"/],
      ["a shape that is no shape", () => edited((t) => Object.assign(t, { inputShape: [0] })), /inputShape = \[0\]/],
      ["unknown layers", () => edited((t) => Object.assign(t, { model: { class_name: "Odd", config: {} } })), /Odd/],
      ["shapes that differ", () => edited((t) => Object.assign(t, { outputs: 4 })), /\[6\] to \[3\].*\[6\] to \[4\]/],
      ["names too few", () => edited((t) => Object.assign(t, { weights: [] })), /has 6 weights.*names 0/],
      [
        "a missing weight",
        () => edited((t) => Object.assign(t, { weights: ["nowhere", ...(t.weights as string[]).slice(1)] })),
        /'nowhere' is absent/,
      ],
      ["a truncated weights file", () => ({ ...artifact, weights: artifact.weights.slice(0, -4) }), /safetensors/],
    ])("%s", async (_, make, message) => {
      await expect(loadPredictor(make())).rejects.toThrow(message);
    });

    it("inputs of the wrong length", async () => {
      const predictor = await loadPredictor(artifact);
      expect(() => predictor.predict(new Float32Array(5), 1)).toThrow(/1 rows of shape \[6\] take 6 inputs; got 5/);
      predictor.dispose();
    });
  });

  const folder = temporaryFolder("predictor");
  const transformer = ownModules.find(([name]) => name === "a transformer block")![1];
  it.each<[string, ModelDefinition]>([
    ["cnn", cnn],
    ["a transformer", transformer],
  ])(
    "loads in a fresh process from a bundle, to the same bits, and leaves its crash handling alone: %s",
    async (_, trained) => {
      const model = await train(trained);
      const artifact = artifactOf(model);
      const { inputs } = randomBatch(trained, 3);
      writeFileSync(path.join(folder, "topology.json"), artifact.topology);
      writeFileSync(path.join(folder, "weights.safetensors"), artifact.weights);
      writeFileSync(path.join(folder, "inputs"), Buffer.from(inputs.buffer));
      const script = `
        import { readFileSync } from "node:fs";
        import { loadPredictor } from "./trainer-container/tfjs/predictor";
        const read = (name) => readFileSync(${JSON.stringify(folder)} + "/" + name);
        const inputs = new Float32Array(Uint8Array.from(read("inputs")).buffer);
        loadPredictor({ topology: read("topology.json").toString(), weights: read("weights.safetensors") }).then((predictor) => {
          const handlers = process.listenerCount("uncaughtException") + process.listenerCount("unhandledRejection");
          console.log(JSON.stringify({ handlers, predictions: Array.from(predictor.predict(inputs, 3)) }));
        });`;
      const outfile = path.join(folder, "predict.js");
      bundleScript(script, outfile);
      const output = execFileSync(process.execPath, [outfile], { env: packages, encoding: "utf8" });
      expect(JSON.parse(output)).toEqual({ handlers: 0, predictions: Array.from(model.predict(inputs, 3)) });
      model.dispose();
    },
  );
});
