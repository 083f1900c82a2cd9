/** Graphs and programs of built-in models against the layers' tape: equal within rounding, equal bits on repetition, nothing left behind. */

import type { CnnDefinition, MlpDefinition } from "../../../core/runs/model-definition";
import { findBinding, loadBinding } from "../../../trainer-container/engine/native-binding";
import { allocateSum } from "../../../trainer-container/kernels/sum-memory";
import { cnn, mlp, randomBatch } from "./contract";
import { bits, gradientOf, gradientsOf, modelsWithTape } from "./models-of";
import { describeNative, startNative } from "./native";
import { describeSharedWeights } from "./shared-weights";
import { describeSparseGradients, describeTapeGradients } from "./sparse-contract";

const wide: MlpDefinition = { ...mlp, inputShape: [96], hidden: [64, 80] }; // kernels large enough to be copied in place

const definitions: readonly (readonly [string, MlpDefinition | CnnDefinition])[] = [
  ["no hidden layer", { ...mlp, hidden: [] }],
  ["wide", wide],
  ["rows of rank 2", { ...mlp, inputShape: [3, 2] }],
  ["binary", { ...mlp, task: "binary", outputs: 1 }],
  ["regression", { ...mlp, task: "regression" }],
  ["regression, standardised label", { ...mlp, task: "regression", label: { mean: 3, deviation: 0.5 } }],
  ...(["relu", "relu6", "elu", "selu", "tanh", "sigmoid", "linear"] as const).map(
    (activation) => [`mlp, ${activation}`, { ...mlp, activation }] as const,
  ),
  ["cnn, relu", { ...cnn, activation: "relu" }],
  ["cnn, odd sides, kernel 5", { ...cnn, inputShape: [9, 11, 3], kernelSize: 5 }],
  ["cnn, one channel, three blocks", { ...cnn, inputShape: [16, 8], filters: [3, 5, 4], hidden: [] }],
  ["cnn, regression", { ...cnn, task: "regression", outputs: 2 }],
];

describeNative("built-in models", () => {
  describeSharedWeights(startNative);
  describeTapeGradients(startNative, definitions);
  describeSparseGradients(
    startNative,
    (["tanh", "elu", "sigmoid"] as const).map((activation) => [activation, { ...wide, inputShape: [50], activation }]),
  );

  describe("native graphs of built-in models", () => {
    const { engine, create } = modelsWithTape(startNative);

    it("are named in the numerics record", () => {
      expect(engine().numerics().switches).toMatchObject({ graph: "7", sharing: "on", operations: "own" });
    });

    it("give equal bits whatever ran before", async () => {
      const { model } = await create(wide);
      const batch = randomBatch(wide, 7);
      const first = bits(gradientOf(model, batch).gradient);
      gradientOf(model, randomBatch(wide, 3, "other"));
      expect(bits(gradientOf(model, batch).gradient)).toBe(first);
      expect(bits(gradientOf((await create(wide)).model, batch).gradient)).toBe(first);
    });

    it("hold the same memory after 10,000 steps", async () => {
      const { model } = await create({ ...mlp, hidden: [] });
      const batch = randomBatch(mlp, 2);
      const leaf = allocateSum(model.parameterCount);
      const binding = loadBinding(findBinding("cpu")!);
      const run = (steps: number) => {
        for (let i = 0; i < steps; i++) {
          gradientsOf(model, batch, "k", leaf);
          model.writeWeights(leaf);
        }
      };
      run(2_000);
      const [tensors, { rss }] = [binding.getNumOfTensors(), process.memoryUsage()];
      run(8_000);
      expect(binding.getNumOfTensors()).toBe(tensors);
      expect(process.memoryUsage().rss - rss).toBeLessThan(64 * 2 ** 20); // loose: 8 KiB a step
    });

    it("leave no tensor behind, at a step or at the end", async () => {
      const binding = loadBinding(findBinding("cpu")!);
      const batch = randomBatch(cnn, 4);
      const before = binding.getNumOfTensors();
      const model = await engine().createModel(cnn, 1);
      const [leaf, weights] = [allocateSum(model.parameterCount), new Float32Array(model.parameterCount)];
      const step = () => {
        gradientsOf(model, batch, "k", leaf);
        model.readWeights(weights);
        model.writeWeights(weights);
      };
      step();
      const running = binding.getNumOfTensors();
      for (let i = 0; i < 20; i++) step();
      expect(binding.getNumOfTensors()).toBe(running);
      expect(() => gradientsOf(model, { ...batch, labels: new Int32Array([0, 1, 2, 9]) }, "k", leaf)).toThrow(
        /label is 9/,
      );
      expect(binding.getNumOfTensors()).toBe(running);
      model.dispose();
      expect(binding.getNumOfTensors()).toBe(before);
    });
  });
});
