/** The promise of equal bits is between processes: models train in fresh ones, from a bundle as in production. */

import { spawnSync } from "node:child_process";
import path from "node:path";
import { findBinding } from "../../../trainer-container/engine/native-binding";
import { bundleScript, packages } from "../../support/bundle";
import { temporaryFolder } from "../../support/temporary-folder";

interface Outcome {
  readonly backend: string;
  readonly handlers: number;
  readonly threads: number;
  readonly digests: Readonly<Record<string, string>>;
}

/** Ten steps of each model, then a digest of its weights. */
const script = `
  import { createHash } from "node:crypto";
  import { createOptimizer } from "./trainer-container/optimizer/create-optimizer";
  import { createEngine } from "./trainer-container/engine/create-engine";
  import { seededRandom } from "./trainer-container/engine/seeded-random";

  const shape = { inputShape: [8, 8, 2], outputs: 3, task: "classification" };
  const module = (build) => ({
    ...shape,
    type: "module",
    factory: ({ tf, outputs }) => tf.sequential({ layers: [...build(tf.layers), tf.layers.dense({ units: outputs })] }),
  });
  const definitions = {
    mlp: { ...shape, type: "mlp", hidden: [65, 33], dropout: 0.3 },
    cnn: { ...shape, type: "cnn", filters: [5, 7], hidden: [9] },
    statistics: module((layers) => [
      layers.separableConv2d({ filters: 4, kernelSize: 3, inputShape: [8, 8, 2] }),
      layers.batchNormalization(),
      layers.flatten(),
    ]),
    embedding: module((layers) => [
      layers.flatten({ inputShape: [8, 8, 2] }),
      layers.embedding({ inputDim: 2, outputDim: 3 }),
      layers.flatten(),
    ]),
  };

  createEngine({ preferred: process.argv[2], threads: Number(process.argv[3]) }).then(async (engine) => {
    const digests = {};
    for (const [name, definition] of Object.entries(definitions)) {
      const model = await engine.createModel(definition, 1);
      const random = seededRandom(name);
      const inputs = Float32Array.from({ length: 32 * 128 }, () => random());
      const labels = Int32Array.from({ length: 32 }, () => Math.floor(random() * 3));
      const [weights, gradients] = [new Float32Array(model.parameterCount), new Float32Array(model.parameterCount)];
      const optimizer = createOptimizer({ type: "adam" }, model.trainableCount);
      model.readWeights(weights);
      for (let step = 1; step <= 10; step++) {
        const pass = model.begin(1);
        pass.add({ inputs, labels, rows: 32 }, "step " + step);
        pass.gradients(gradients);
        optimizer.step(weights.subarray(0, model.trainableCount), gradients, { step, learningRate: 0.01, scale: 1 / 32 });
        model.writeWeights(weights);
      }
      digests[name] = createHash("sha256").update(new Uint8Array(weights.buffer)).digest("hex");
    }
    const handlers = process.listenerCount("uncaughtException") + process.listenerCount("unhandledRejection");
    const threads = engine.numerics().threads.intraOp;
    console.log(JSON.stringify({ backend: engine.backend, handlers, threads, digests }));
  });`;

const trainer = path.join(temporaryFolder("engine"), "train.js");
beforeAll(() => bundleScript(script, trainer));

/** TensorFlow writes these two lines while its library is loaded, before it reads its log level. */
const loadNotice = /absl::InitializeLog|oneDNN custom operations are on/;

function train(backend: string, threads: number): Outcome {
  const args = [trainer, backend, String(threads)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env: packages, encoding: "utf8" });
  expect(stderr.split("\n").filter((line) => line && !loadNotice.test(line))).toEqual([]);
  return JSON.parse(stdout) as Outcome;
}

it("wasm trains quietly, and has one thread for any request; test/trainer/process compares its bits", () => {
  expect(train("wasm", 4)).toMatchObject({ backend: "wasm", handlers: 0, threads: 1 });
});

(findBinding("cpu") ? it : it.skip)("native trains to equal bits in two processes, quietly, on one thread", () => {
  const first = train("native", 1);
  expect(first).toMatchObject({ backend: "native", handlers: 0, threads: 1 });
  expect(train("native", 1)).toEqual(first);
});
