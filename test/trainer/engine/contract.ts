import * as tf from "@tensorflow/tfjs-core";
import type { CnnDefinition, MlpDefinition, ModelDefinition } from "../../../core/runs/model-definition";
import type { Batch, Engine, TrainableModel } from "../../../trainer-container/engine/engine";
import { seededRandom } from "../../../trainer-container/engine/seeded-random";
import { bits, gradientOf, gradientsOf, modelsOf, weightsOf } from "./models-of";

export const mlp: MlpDefinition = {
  type: "mlp",
  inputShape: [6],
  outputs: 3,
  task: "classification",
  hidden: [8, 5],
  activation: "tanh",
};

export const cnn: CnnDefinition = {
  type: "cnn",
  inputShape: [8, 8, 2],
  outputs: 3,
  task: "classification",
  filters: [4, 6],
  hidden: [5],
  activation: "tanh",
};

/** Rows drawn from a seed; labels follow the task. */
export function randomBatch(definition: ModelDefinition, rows: number, key = "batch"): Batch {
  const random = seededRandom(key);
  const size = rows * definition.inputShape.reduce((product, side) => product * side, 1);
  const inputs = Float32Array.from({ length: size }, () => random() * 2 - 1);
  const { task, outputs } = definition;
  const labels =
    task === "regression"
      ? Float32Array.from({ length: rows * outputs }, () => random() * 2 - 1)
      : Int32Array.from({ length: rows }, () => Math.floor(random() * (task === "binary" ? 2 : outputs)));
  return { inputs, labels, rows };
}

/** Factors of the step for the elements that one central difference moves. Equal or opposite errors do not cancel. */
export const movedAtOnce = [1, 0.5, -0.75];

/**
 * Returns the largest difference between the model's gradient and central differences of the loss, in which some elements
 * of a slot move at once.
 *
 * @param training whether the loss is that of a training pass, with its draws
 */
export function gradientError(model: TrainableModel, batch: Batch, step = 2e-3, training = false): number {
  const weights = weightsOf(model);
  const { gradient } = gradientOf(model, batch, "check");
  const result = () => (training ? gradientOf(model, batch, "check").result : model.evaluate(batch));
  let worst = 0;
  for (const slot of model.layout.filter((each) => each.trainable)) {
    const elements = [...new Set([0, Math.floor(slot.size / 2), slot.size - 1])].map((index) => slot.offset + index);
    const [above, below] = [step, -step].map((delta) => {
      const moved = weights.slice();
      for (const [i, at] of elements.entries()) moved[at]! += delta * movedAtOnce[i]!;
      model.writeWeights(moved);
      return result().loss;
    }) as [number, number];
    const expected = elements.reduce((sum, at, i) => sum + movedAtOnce[i]! * gradient[at]!, 0);
    worst = Math.max(worst, Math.abs((above - below) / (2 * step) - expected));
  }
  model.writeWeights(weights);
  return worst;
}

export function describeEngineContract(name: string, start: () => Promise<Engine>): void {
  describe(`engine contract: ${name}`, () => {
    const { engine, create } = modelsOf(start);

    it.each([
      ["mlp", { ...mlp, activation: "relu" }],
      ["cnn", { ...cnn, filters: [4, 8], activation: "relu" }],
      ["mlp with dropout", { ...mlp, dropout: 0.5 }],
    ] as const)("says of a %s's gradient only what is final", async (_, definition) => {
      const model = await create(definition);
      const into = new Float32Array(model.parameterCount).fill(Number.NaN);
      const reported: { start: number; values: Float32Array }[] = [];
      gradientsOf(model, randomBatch(definition, 4), "step 0", into, (start, end) => {
        reported.push({ start, values: into.slice(start, end) });
      });
      const { gradient } = gradientOf(model, randomBatch(definition, 4), "step 0");
      expect(into).toEqual(gradient);
      for (const { start, values } of reported) expect(gradient.subarray(start, start + values.length)).toEqual(values);
      // No range twice.
      expect(reported.reduce((total, { values }) => total + values.length, 0)).toBeLessThanOrEqual(
        model.trainableCount,
      );
    });

    it("lays all weights out one after the other, in order, by stable names", async () => {
      const model = await create(mlp);
      expect(model.layout).toEqual([
        { name: "dense_1/kernel", shape: [6, 8], offset: 0, size: 48, trainable: true },
        { name: "dense_1/bias", shape: [8], offset: 48, size: 8, trainable: true },
        { name: "dense_2/kernel", shape: [8, 5], offset: 56, size: 40, trainable: true },
        { name: "dense_2/bias", shape: [5], offset: 96, size: 5, trainable: true },
        { name: "logits/kernel", shape: [5, 3], offset: 101, size: 15, trainable: true },
        { name: "logits/bias", shape: [3], offset: 116, size: 3, trainable: true },
      ]);
      expect([model.parameterCount, model.trainableCount]).toEqual([119, 119]);
    });

    it("reads back the weights that were written, and keeps no hold on the buffer", async () => {
      const model = await create(mlp);
      const written = Float32Array.from({ length: 119 }, (_, i) => i / 7);
      const expected = written.slice();
      model.writeWeights(written);
      written.fill(0);
      expect(weightsOf(model)).toEqual(expected);
    });

    it("initialises by the seed alone", async () => {
      const weights = await Promise.all([1, 1, 2].map(async (seed) => bits(weightsOf(await create(mlp, seed)))));
      expect(weights[0]).toBe(weights[1]);
      expect(weights[0]).not.toBe(weights[2]);
    });

    it("computes softmax cross-entropy, its gradient and the count of right rows (by hand)", async () => {
      const model = await create({ type: "mlp", inputShape: [1], outputs: 2, task: "classification", hidden: [] });
      model.writeWeights(new Float32Array([1, 0, 0, 0])); // logits (x, 0)
      const x = Math.log(3); // softmax (3/4, 1/4)
      const batch = { inputs: new Float32Array([x, x]), labels: new Int32Array([0, 1]), rows: 2 };
      const { result, gradient } = gradientOf(model, batch);
      expect(result.loss).toBeCloseTo(-Math.log(3 / 4) - Math.log(1 / 4), 5);
      expect([result.correct, result.weight]).toEqual([1, 2]);
      // Row 0: (−1/4, 1/4); row 1: (3/4, −3/4). Kernel: the sum times x.
      expect([...gradient]).toEqual([0.5 * x, -0.5 * x, 0.5, -0.5].map((value) => expect.closeTo(value, 5)));
    });

    it("computes sigmoid cross-entropy and its gradient (by hand), stable for large logits", async () => {
      const model = await create({ type: "mlp", inputShape: [1], outputs: 1, task: "binary", hidden: [] });
      model.writeWeights(new Float32Array([1, 0]));
      const inputs = new Float32Array([Math.log(3), -100]); // probabilities 3/4 and 0
      const { result, gradient } = gradientOf(model, { inputs, labels: new Int32Array([1, 1]), rows: 2 });
      expect(result.loss).toBeCloseTo(-Math.log(3 / 4) + 100, 4);
      expect(result.correct).toBe(1);
      expect(gradient[0]).toBeCloseTo(-0.25 * Math.log(3) + 100, 4);
      expect(gradient[1]).toBeCloseTo(-1.25, 5);
    });

    it("multiplies the loss of gradients by class weights and row weights (by hand), and not that of an evaluation", async () => {
      const x = Math.log(3);
      const rows = { inputs: new Float32Array([x, x]), labels: new Int32Array([0, 1]), rows: 2 };
      const weights = new Float32Array([1, 0.5]);
      const [l0, l1] = [-Math.log(3 / 4), -Math.log(1 / 4)];
      const classes = { type: "mlp", inputShape: [1], hidden: [], classWeights: [2, 8] } as const;
      const softmax = await create({ ...classes, outputs: 2, task: "classification" });
      softmax.writeWeights(new Float32Array([1, 0, 0, 0])); // logits (x, 0), softmax (3/4, 1/4)
      const sigmoid = await create({ ...classes, outputs: 1, task: "binary" });
      sigmoid.writeWeights(new Float32Array([-1, 0])); // probability of class 1: 1/4
      for (const [model, batch, [first, second], weight] of [
        [softmax, rows, [2, 8], 2],
        [softmax, { ...rows, weights }, [2, 4], 1.5],
        [sigmoid, rows, [2, 8], 2],
        [sigmoid, { ...rows, weights }, [2, 4], 1.5],
      ] as const) {
        const { result, gradient } = gradientOf(model, batch);
        expect(result.loss).toBeCloseTo(first * l0 + second * l1, 4);
        expect([result.correct, result.weight]).toEqual([1, weight]);
        // The logit of class 0 has the gradients −1/4 and 3/4; the sigmoid's is that of class 1.
        const logit = first * -0.25 + second * 0.75;
        const expected = model === softmax ? [logit * x, -logit * x, logit, -logit] : [-logit * x, -logit];
        expect([...gradient]).toEqual(expected.map((value) => expect.closeTo(value, 4)));
        expect(model.evaluate(batch).loss).toBeCloseTo(l0 + (weight - 1) * l1, 4);
      }
    });

    it("computes the mean squared error and its gradient (by hand)", async () => {
      const model = await create({ type: "mlp", inputShape: [1], outputs: 2, task: "regression", hidden: [] });
      model.writeWeights(new Float32Array([2, 1, 0, 0])); // x → (2x, x)
      const batch = { inputs: new Float32Array([3]), labels: new Float32Array([4, 4]), rows: 1 };
      const { result, gradient } = gradientOf(model, batch);
      expect(result).toEqual({ loss: (4 + 1) / 2, weight: 1 }); // errors (2, −1), their squares' mean
      expect(Array.from(gradient)).toEqual([6, -3, 2, -1]);
    });

    it("computes the loss of a standardised label and predicts in the label's unit (by hand)", async () => {
      const label = { mean: 10, deviation: 4 };
      const model = await create({ type: "mlp", inputShape: [1], outputs: 1, task: "regression", hidden: [], label });
      model.writeWeights(new Float32Array([2, 0.5])); // 3 → 6.5; its label 20 is 2.5 deviations above the mean
      const batch = { inputs: new Float32Array([3]), labels: new Float32Array([20]), rows: 1 };
      const { result, gradient } = gradientOf(model, batch);
      expect(result).toEqual({ loss: 16, weight: 1 });
      expect(Array.from(gradient)).toEqual([24, 8]);
      expect(model.evaluate(batch)).toEqual({ loss: 16, weight: 1 });
      expect(Array.from(model.predict(batch.inputs, 1))).toEqual([36]);
    });

    it.each<[string, ModelDefinition]>([
      ["mlp, classification", mlp],
      ["mlp, binary", { ...mlp, task: "binary", outputs: 1 }],
      ["mlp, regression", { ...mlp, task: "regression" }],
      ["mlp, elu", { ...mlp, activation: "elu" }],
      ["mlp, image rows", { ...mlp, inputShape: [3, 2] }],
      ["cnn", cnn],
      ["cnn, one channel, kernel 5", { ...cnn, inputShape: [8, 8], kernelSize: 5 }],
    ])("has the gradient of its loss: %s", async (_, definition) => {
      const model = await create(definition, 9); // a seed at which no max-pool is so near a tie that a step would move it
      expect(gradientError(model, randomBatch(definition, 4))).toBeLessThan(2e-3);
    });

    it("sums over micro-batches to the gradient of the whole batch", async () => {
      const model = await create(mlp);
      const whole = randomBatch(mlp, 8);
      const { result, gradient } = gradientOf(model, whole);
      const parts = [0, 2, 4, 6].map((first) => gradientOf(model, slice(whole, first, 2, 6)));
      expect(parts.reduce((sum, part) => sum + part.result.loss, 0)).toBeCloseTo(result.loss, 4);
      const total = gradient.map((_, i) => parts.reduce((sum, part) => sum + part.gradient[i]!, 0));
      expect([...total]).toEqual([...gradient].map((value) => expect.closeTo(value, 4)));
    });

    it("leaves rows of weight 0 out", async () => {
      const model = await create(mlp);
      const whole = randomBatch(mlp, 4);
      const { result, gradient } = gradientOf(model, { ...whole, weights: new Float32Array([1, 1, 0, 0]) });
      const half = gradientOf(model, slice(whole, 0, 2, 6));
      expect(result).toEqual({ ...half.result, weight: 2, loss: expect.closeTo(half.result.loss, 5) });
      expect([...gradient]).toEqual([...half.gradient].map((value) => expect.closeTo(value, 5)));
    });

    it.each<[string, ModelDefinition]>([
      ["mlp with dropout", { ...mlp, dropout: 0.5 }],
      ["cnn with dropout", { ...cnn, dropout: 0.5 }],
    ])(
      "gives equal bits for an equal key, whatever ran before, and other dropout for another: %s",
      async (_, definition) => {
        const [one, other] = [await create(definition), await create(definition)];
        const batch = randomBatch(definition, 6);
        const bitsOf = (model: TrainableModel, key: string) => bits(gradientOf(model, batch, key).gradient);
        const first = bitsOf(one, "step 1");
        expect(bitsOf(one, "step 2")).not.toBe(first);
        expect(bitsOf(one, "step 1")).toBe(first);
        expect(bitsOf(other, "step 1")).toBe(first);
      },
    );

    it("predicts probabilities, without dropout", async () => {
      const model = await create({ ...mlp, dropout: 0.9 });
      const { inputs } = randomBatch(mlp, 4);
      const probabilities = model.predict(inputs, 4);
      expect(probabilities).toHaveLength(12);
      for (let row = 0; row < 4; row++) {
        expect(probabilities.slice(row * 3, row * 3 + 3).reduce((a, b) => a + b)).toBeCloseTo(1, 6);
      }
      expect(Array.from(model.predict(inputs, 4))).toEqual(Array.from(probabilities));
    });

    it("leaks no tensor over many steps", async () => {
      const model = await create({ ...cnn, dropout: 0.3 });
      const batch = randomBatch(cnn, 4);
      const flat = new Float32Array(model.parameterCount);
      const cycle = (step: number): void => {
        gradientsOf(model, batch, `step ${step}`, flat);
        model.evaluate(batch);
        model.predict(batch.inputs, batch.rows);
        model.readWeights(flat);
        model.writeWeights(flat);
      };
      cycle(0);
      const before = tf.memory();
      for (let step = 1; step <= 20; step++) cycle(step);
      expect(tf.memory().numTensors).toBe(before.numTensors);
      expect(tf.memory().numBytes).toBe(before.numBytes);
      expect(tf.engine().state.numDataBuffers).toBe(before.numDataBuffers);
    });

    it("frees everything on dispose", async () => {
      const before = tf.memory().numTensors;
      (await engine().createModel(cnn, 3)).dispose();
      expect(tf.memory().numTensors).toBe(before);
    });

    it("leaves Math.random as it was, also when a call fails", async () => {
      const original = Math.random;
      const model = await create(mlp);
      const batch = { ...randomBatch(mlp, 2), labels: new Int32Array([0, 9]) };
      expect(() => gradientOf(model, batch)).toThrow(/label is 9.*integers 0 to 2/);
      expect(Math.random).toBe(original);
    });

    it.each<[string, (model: TrainableModel) => void, RegExp]>([
      ["short flat buffer", (m) => m.readWeights(new Float32Array(3)), /has 119 elements; got 3/],
      ["wrong inputs", (m) => m.predict(new Float32Array(5), 1), /take 6 inputs; got 5/],
      ["no rows", (m) => m.predict(new Float32Array(0), 0), /0 rows/],
    ])("refuses a %s", async (_, act, message) => {
      const model = await create(mlp);
      expect(() => act(model)).toThrow(message);
    });

    it("records its numerics", () => {
      const numerics = engine().numerics();
      expect(numerics.backend).toBe(engine().backend);
      expect(numerics.libraries["tfjs-core"]).toMatch(/^4\./);
      expect(numerics.threads.intraOp).toBeGreaterThan(0);
      expect(numerics).toMatchObject({ node: process.version, platform: process.platform, arch: process.arch });
    });
  });
}

function slice(batch: Batch, start: number, rows: number, rowSize: number): Batch {
  return {
    inputs: batch.inputs.slice(start * rowSize, (start + rows) * rowSize),
    labels: batch.labels.slice(start, start + rows),
    rows,
  };
}
