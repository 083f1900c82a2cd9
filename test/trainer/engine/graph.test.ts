/** Recorded graphs against the layers' tape. Runs where the native binding is installed. */

import * as tf from "@tensorflow/tfjs-core";
import type { ModuleDefinition } from "../../../core/runs/model-definition";
import { buildModel } from "../../../trainer-container/engine/build-model";
import type { LossFunction, ModelContext, TensorFlow } from "../../../trainer-container/engine/define-training";
import type { Batch, Execution, StepUpdate, TrainableModel } from "../../../trainer-container/engine/engine";
import { GraphBuilder } from "../../../trainer-container/engine/graph/builder";
import { GraphProgram } from "../../../trainer-container/engine/graph/program";
import { constantCount } from "../../../trainer-container/engine/graph/update";
import { LayersTrainable } from "../../../trainer-container/engine/layers-trainable";
import type { NativeBackend } from "../../../trainer-container/engine/native/operations";
import type { NativeBinding } from "../../../trainer-container/engine/native-binding";
import { ProgramTrainable } from "../../../trainer-container/engine/program-trainable";
import { add } from "../../../trainer-container/kernels/add";
import { allocateSum } from "../../../trainer-container/kernels/sum-memory";
import { clipFactor, globalNorm } from "../../../trainer-container/optimizer/clip";
import { createOptimizer } from "../../../trainer-container/optimizer/create-optimizer";
import type { OptimizerConfig } from "../../../trainer-container/optimizer/optimizer";
import { applyStatistics } from "../../../trainer-container/optimizer/updates";
import { canonicalAdditions } from "../../../trainer-container/reduction/plan";
import { cnn, mlp, randomBatch } from "./contract";
import { gradientsOf, type ModuleExtra, modelsOf, stack, moduleOf as userModule } from "./models-of";
import { describeNative, startNative, withBinding } from "./native";

type LayersModel = ReturnType<TensorFlow["sequential"]>;
type Layers = TensorFlow["layers"];

const moduleOf = (build: (layers: Layers) => LayersModel["layers"], extra?: ModuleExtra): ModuleDefinition =>
  userModule(
    stack((layers, { outputs }) => [...build(layers), layers.dense({ units: outputs })]),
    extra,
  );

const dense = (extra?: ModuleExtra): ModuleDefinition =>
  moduleOf((layers) => [layers.dense({ units: 5, inputShape: [6], activation: "tanh" })], extra);
const embedding = moduleOf(
  (layers) => [layers.embedding({ inputDim: 5, outputDim: 2, inputShape: [2] }), layers.flatten()],
  { inputShape: [2] },
);
const squares: LossFunction = (labels, outputs) =>
  tf.squaredDifference(tf.oneHot(tf.cast(labels, "int32"), 3), outputs).mean(1);

interface Counts {
  calls: number;
  runs: number;
  given: number;
  taken: number;
}

/** Checks that no element differs by more than 1e-5. */
function expectClose(found: Float32Array, expected: Float32Array): void {
  const differences = expected.map((value, index) => Math.abs(value - (found[index] as number)));
  expect(Math.max(...differences)).toBeLessThan(1e-5);
}

describeNative("recorded graphs", () => {
  const executions: Execution[] = [];
  const { create, created } = modelsOf(() => startNative({ onExecution: (each) => executions.push(each) }));
  afterEach(() => {
    executions.length = 0;
  });

  async function both(definition: ModuleDefinition | typeof mlp | typeof cnn) {
    const model = await create(definition);
    const tape = new LayersTrainable(buildModel(definition, 1), definition);
    created.push(tape);
    return { model, tape };
  }

  /** Makes a model of a program on the backend as it is now. */
  function programOf(definition: ModuleDefinition | typeof mlp, sharing = true) {
    const layers = new LayersTrainable(buildModel(definition, 1), definition);
    const backend = tf.backend() as unknown as NativeBackend;
    const model = new ProgramTrainable(layers, new GraphProgram(backend, definition, layers, sharing, undefined));
    created.push(model);
    return model;
  }

  function gradients(model: TrainableModel, batch: Batch, key = "k") {
    const values = new Float32Array(model.parameterCount).fill(Number.NaN);
    const result = gradientsOf(model, batch, key, values);
    return { values, result };
  }

  const definitions: readonly (readonly [string, Parameters<typeof both>[0]])[] = [
    ["dense layers", dense()],
    ["a built-in model with dropout", { ...mlp, dropout: 0.4 }],
    ["a built-in convolutional model with dropout", { ...cnn, dropout: 0.4 }],
    [
      "convolutions, batch normalisation and pooling",
      moduleOf(
        (layers) => [
          layers.conv2d({ filters: 4, kernelSize: 3, padding: "same", inputShape: [6, 6, 2], activation: "relu" }),
          layers.batchNormalization({ momentum: 0.5 }),
          layers.maxPooling2d({ poolSize: 2 }),
          layers.separableConv2d({ filters: 4, kernelSize: 2 }),
          layers.globalAveragePooling2d({}),
        ],
        { inputShape: [6, 6, 2] },
      ),
    ],
    [
      "an LSTM with dropout and layer normalisation",
      moduleOf((layers) => [
        layers.reshape({ targetShape: [3, 2], inputShape: [6] }),
        layers.lstm({ units: 4, dropout: 0.3 }),
        layers.layerNormalization(),
      ]),
    ],
    ["an embedding", embedding],
    [
      "causal attention with dropout, positions, normalization and GELU",
      moduleOf((layers) => [
        layers.reshape({ targetShape: [3, 2], inputShape: [6] }),
        layers.dense({ units: 4 }),
        layers.positionalEncoding(),
        layers.positionalEmbedding(),
        layers.rmsNormalization(),
        layers.multiHeadAttention({ heads: 2, causal: true, dropout: 0.4 }),
        layers.gelu(),
        layers.selectFeatures({ columns: [3, 0] }),
        layers.gelu({ approximate: "tanh" }),
        layers.flatten(),
      ]),
    ],
    ["noise layers", moduleOf((layers) => [layers.gaussianNoise({ stddev: 0.3, inputShape: [6] })])],
    ["regression with its own loss and metrics", dense({ loss: squares, metrics: { squares } })],
  ];

  it.each(definitions)("have the tape's loss, metrics and gradient: %s", async (_, definition) => {
    const { model, tape } = await both(definition);
    const random = randomBatch(definition, 4);
    const inputs = definition.inputShape.join() === "2" ? Float32Array.of(1, 3, 1, 1, 0, 4, 2, 2) : random.inputs;
    const batch = { ...random, inputs };
    const expected = gradients(tape, batch);
    const found = gradients(model, batch);
    expect(executions).toEqual([expect.objectContaining({ pass: "gradients", engine: "graph" })]);
    expect(found.result.loss).toBeCloseTo(expected.result.loss, 4);
    expect(found.result).toEqual({ ...expected.result, loss: found.result.loss });
    expectClose(found.values, expected.values);

    // Another batch and other draws with the recorded graph.
    const other = { ...randomBatch(definition, 4, "other"), inputs: batch.inputs };
    const [again, reference] = [gradients(model, other, "step 2"), gradients(tape, other, "step 2")];
    expectClose(again.values, reference.values);
    expect(model.evaluate(other).loss).toBeCloseTo(tape.evaluate(other).loss, 4);
  });

  it("contain nested models, and count their outputs", async () => {
    const factory = ({ tf: { sequential, layers } }: ModelContext) => {
      const single = sequential({ layers: [layers.dense({ units: 5, inputShape: [6], activation: "tanh" })] });
      const several = sequential({ layers: [layers.dense({ units: 7, inputShape: [5] }), layers.dense({ units: 3 })] });
      return sequential({ layers: [single, several] });
    };
    const definition = { ...dense(), factory } as unknown as ModuleDefinition;
    const { model, tape } = await both(definition);
    const batch = randomBatch(definition, 12);
    expectClose(gradients(model, batch).values, gradients(tape, batch).values);
    expect(executions.map(({ engine: by }) => by)).toEqual(["graph"]);
    expect(tape.outputBytes(12)).toBeGreaterThanOrEqual(4 * 12 * (5 + 7 + 3));
  });

  /** Makes passes of more than 4 rows too large for the tape while `body` runs. */
  async function onSmallTape<T>(body: () => T | Promise<T>): Promise<T> {
    const spied = jest.spyOn(LayersTrainable.prototype, "outputBytes").mockReturnValue(Number.POSITIVE_INFINITY);
    try {
      return await body();
    } finally {
      spied.mockRestore();
    }
  }

  /** Row counts of the passes that the tape computes while `body` runs. */
  function tapeRows(body: () => void): readonly number[] {
    const spied = jest.spyOn(LayersTrainable.prototype, "differentiate");
    try {
      body();
      return spied.mock.calls.map(([{ rows }]) => rows);
    } finally {
      spied.mockRestore();
    }
  }

  // Without the first two, of which the third has all layers.
  it.each(definitions.slice(2))(
    "of many rows have the same bits if the tape computes only the first: %s",
    async (_, definition) => {
      const [{ model }, { model: other }] = [await both(definition), await both(definition)];
      const random = randomBatch(definition, 12);
      const inputs = definition.inputShape.join() === "2" ? random.inputs.map((__, index) => index % 5) : random.inputs;
      const batch = { ...random, inputs };
      const [expected, evaluated] = [gradients(model, batch), model.evaluate(batch)];
      await onSmallTape(() => {
        // The last 12 rows are recorded, but not computed.
        expect(tapeRows(() => expect(gradients(other, batch)).toEqual(expected))).toEqual([4, 4, 2, 12]);
        expect(other.evaluate(batch)).toEqual(evaluated);
      });
      expect(gradients(other, batch, "step 2")).toEqual(gradients(model, batch, "step 2"));
      expect(executions).toHaveLength(4);
      for (const { engine } of executions) expect(engine).toBe("graph");
    },
  );

  it("of many rows are computed by the tape as a whole if they do not follow from those of few", async () => {
    // The mean over all pairs of rows.
    const pairs: LossFunction = (labels, outputs) => {
      const products = tf.matMul(outputs as tf.Tensor2D, outputs as tf.Tensor2D, false, true);
      return squares(labels, outputs).add(products.reshape([-1]).mean());
    };
    const definition = dense({ loss: pairs });
    const [{ model }, { model: other }] = [await both(definition), await both(definition)];
    const batch = randomBatch(definition, 12);
    const expected = gradients(model, batch);
    await onSmallTape(() => {
      const rows = tapeRows(() => expect(gradients(other, batch)).toEqual(expected));
      expect(rows).toEqual([4, 4, 2, 12, 12]);
    });
  });

  it("take other weights, and rows' weights, without another recording", async () => {
    const { model, tape } = await both(dense());
    const batch = { ...randomBatch(mlp, 4), weights: Float32Array.of(1, 0, 2, 1) };
    gradients(model, batch);
    const weights = Float32Array.from({ length: model.parameterCount }, (_, index) => Math.sin(index));
    for (const each of [model, tape]) each.writeWeights(weights);
    const masked = { ...batch, weights: Float32Array.of(1, 1, 0, 0) };
    const [found, expected] = [gradients(model, masked), gradients(tape, masked)];
    expectClose(found.values, expected.values);
    expect(found.result.weight).toBe(2);
    expect(executions).toHaveLength(1);
  });

  it.each<[string, LossFunction, RegExp]>([
    [
      "reads a value in the middle",
      (labels, outputs) => squares(labels, outputs).mul((outputs.dataSync()[0] as number) > 0 ? 1 : 2),
      /reads a value in the middle/,
    ],
    [
      "has shapes that depend on values",
      (labels, outputs) => squares(labels, outputs).mul(tf.unique(labels as tf.Tensor1D).values.size),
      /the operation UniqueV2, whose shape depends on values/,
    ],
    ["draws in JavaScript", (labels, outputs) => squares(labels, outputs).mul(Math.random()), /draws random numbers/],
  ])("leave a model to the tape if its loss %s", async (_, compute, reason) => {
    const { model, tape } = await both(dense({ loss: compute }));
    const batch = randomBatch(mlp, 4);
    expect(gradients(model, batch)).toEqual(gradients(tape, batch));
    expect(gradients(model, batch, "2")).toEqual(gradients(tape, batch, "2"));
    const [execution] = executions as [Extract<Execution, { engine: "tape" }>];
    expect(execution).toMatchObject({ pass: "gradients", engine: "tape" });
    expect(execution.reason.message).toMatch(reason);
    expect(execution.reason.stack).toContain("graph.test.ts"); // the place in user code
    expect(executions).toHaveLength(1);
    model.scaleLoss!(1 / 8);
    expect(gradients(model, batch).values).toEqual(gradients(tape, batch).values.map((value) => value / 8));
  });

  it("leave a model to the tape whose loss depends on the number of calls", async () => {
    let calls = 0;
    const { model } = await both(dense({ loss: (labels, outputs) => squares(labels, outputs).mul(++calls) }));
    gradients(model, randomBatch(mlp, 4));
    expect(executions).toMatchObject([
      { engine: "tape", reason: { message: expect.stringMatching(/between two calls/) } },
    ]);
  });

  it.each([
    ["TanhGrad", "SigmoidGrad", "gradient of"],
    ["Tanh", "Softsign", "loss or metrics"],
  ])("fail if they compute something else than the tape: %s became %s", async (right, wrong, where) => {
    const { append } = GraphBuilder.prototype;
    const changed = jest.spyOn(GraphBuilder.prototype, "append").mockImplementation(function (
      this: GraphBuilder,
      nodes,
      replaced,
    ) {
      const others = nodes.map((node) => (node.op === right ? { ...node, op: wrong } : node));
      return append.call(this, others, replaced);
    });
    try {
      for (const scale of [1, 2 ** -7]) {
        const { model } = await both(dense());
        model.scaleLoss!(scale);
        expect(() => gradients(model, randomBatch(mlp, 4))).toThrow(`for its ${where}`);
        await onSmallTape(() => expect(() => gradients(model, randomBatch(mlp, 12))).toThrow(`for its ${where}`));
      }
    } finally {
      changed.mockRestore();
    }
  });

  it("compute the first results once", () =>
    counted((counts) => {
      const model = programOf(mlp);
      const batch = randomBatch(mlp, 4);
      const first = gradients(model, batch);
      expect(counts.runs).toBe(2); // weights into the variables, and the gradient
      expect(gradients(model, batch)).toEqual(first);
      expect(counts.runs).toBe(3);
    }));

  it("refuse an embedding's index that is out of range", async () => {
    const { model } = await both(embedding);
    const batch = { inputs: Float32Array.of(1, 4), labels: Int32Array.of(0), rows: 1 };
    gradients(model, batch);
    const outside = { ...batch, inputs: Float32Array.of(1, 5) };
    expect(() => gradients(model, outside)).toThrow(/cannot be computed.* = 5 is not in \[0, 5\).* enlarge inputDim/s);
    gradients(model, batch); // the graph still works
  });

  it("are not used if the module declines them", async () => {
    const { model, tape } = await both(dense({ graph: false }));
    const batch = randomBatch(mlp, 4);
    expect(gradients(model, batch)).toEqual(gradients(tape, batch));
    expect(executions).toMatchObject([
      { pass: "gradients", engine: "tape" },
      { pass: "evaluation", engine: "tape" },
    ]);
  });

  const small = { ...mlp, dropout: 0.5, hidden: [24, 16] };
  const pooled = { ...cnn, dropout: 0.5, inputShape: [8, 8, 1], filters: [4, 8], hidden: [16] } as typeof cnn;

  it.each([
    [3, 32, "an mlp", { ...small, hidden: [5, 37] }],
    [6, 8, "a cnn", pooled],
  ] as const)(
    "add %i micro-batches of %i rows with the bits of single additions: %s",
    async (count, rows, _, definition) => {
      const { model } = await both(definition);
      // The first call computes the micro-batches one by one, too; the other uses the graph.
      for (let call = 0; call < 2; call++) {
        const batches = Array.from({ length: count }, (__, index) => randomBatch(definition, rows, `${call} ${index}`));
        const parts = batches.map((batch, index) => gradients(model, batch, `micro-batch ${index}`));
        const expected = parts.map(({ values }) => values);
        for (const { into, from } of canonicalAdditions(count)) {
          add(expected[into]!, 0, expected[into]!, 0, expected[from]!, 0, expected[into]!.length);
        }
        // The number depends on the shortest time of a micro-batch, which is long on a busy machine.
        for (let again = 0; model.maxSum < count && again < 200; again++)
          gradients(model, batches[0]!, "micro-batch 0");
        expect(model.maxSum).toBeGreaterThanOrEqual(count);
        const sum = model.begin(count);
        for (const [index, batch] of batches.entries()) sum.add(batch, `micro-batch ${index}`);
        const total = new Float32Array(model.parameterCount);
        expect(sum.gradients(total)).toEqual(parts.map(({ result }) => result));
        expect(total).toEqual(expected[0]);
        expect(model.maxSum).toBeGreaterThan(1);
      }
    },
  );

  it("refuse row weights in a sum", async () => {
    const { model } = await both(dense());
    const batch = randomBatch(mlp, 4);
    gradients(model, batch);
    const weighted = { ...batch, weights: Float32Array.of(1, 0, 2, 1) };
    expect(() => model.begin(2).add(weighted, "k")).toThrow("A batch has row weights");
  });

  it("give the same bits whichever passes came before", async () => {
    const definition = moduleOf((layers) => [
      layers.reshape({ targetShape: [3, 2], inputShape: [6] }),
      layers.lstm({ units: 8 }),
      layers.layerNormalization(),
      layers.dropout({ rate: 0.3 }),
    ]);
    const { model: first } = await both(definition);
    const { model: later } = await both(definition);
    const batch = randomBatch(definition, 8);
    const expected = gradients(first, batch);
    // Positions of nodes get one more digit.
    for (let rows = 1; rows <= 7; rows++) later.evaluate(randomBatch(definition, rows));
    expect(gradients(later, batch)).toEqual(expected);
  });

  function attach(model: TrainableModel, config: OptimizerConfig = { type: "adam" }, clipNorm?: number) {
    const weights = allocateSum(model.parameterCount);
    model.readWeights(weights);
    const optimizer = model.attachOptimizer({ config, clipNorm }, weights);
    model.shareWeights(weights);
    return { optimizer, weights, state: optimizer.slots };
  }
  const update = (step: number, rows: number): StepUpdate => ({
    step,
    learningRate: 0.01,
    mean: 1 / rows,
    unscaled: 1 / rows,
  });

  const optimizers: readonly (readonly [string, OptimizerConfig, number | undefined])[] = [
    ["SGD", { type: "sgd", weightDecay: 0.01 }, undefined],
    ["Nesterov's momentum", { type: "momentum", nesterov: true, weightDecay: 0.01 }, undefined],
    ["Adam with a penalty and clipping", { type: "adam", weightDecay: 0.01 }, 0.1],
    ["AdamW with clipping", { type: "adamw", weightDecay: 0.1 }, 0.1],
  ];

  it.each(optimizers)("take the steps of %s, with and without the sum in between", async (_, config, clipNorm) => {
    const definition = moduleOf((layers) => [
      layers.dense({ units: 5, inputShape: [6] }),
      layers.batchNormalization({ momentum: 0.5 }),
      layers.dropout({ rate: 0.3 }),
    ]);
    const { model: alone } = await both(definition);
    const { model: summing } = await both(definition);
    const [one, other] = [attach(alone, config, clipNorm), attach(summing, config, clipNorm)];
    const reference = createOptimizer(config, alone.trainableCount);
    const expected = one.weights.slice();
    const sum = new Float32Array(alone.parameterCount);
    const leaf = new Float32Array(alone.parameterCount);
    for (let step = 1; step <= 3; step++) {
      const batches = [0, 1].map((index) => randomBatch(definition, 4, `${step} ${index}`));
      sum.fill(0);
      for (const [index, batch] of batches.entries()) {
        gradientsOf(summing, batch, `${step} ${index}`, leaf);
        add(sum, 0, sum, 0, leaf, 0, sum.length);
      }
      const numbers = update(step, 8);
      expect(other.optimizer.takesPasses).toBe(true);
      const norm = other.optimizer.step(sum, numbers).gradientNorm;
      if (step === 1) {
        gradientsOf(alone, batches[0] as Batch, "1 0", leaf);
        expect(one.optimizer.step(sum, numbers).gradientNorm).toBe(norm);
      } else {
        const begun = alone.begin(2);
        for (const [index, batch] of batches.entries()) begun.add(batch, `${step} ${index}`);
        const { results, gradientNorm } = one.optimizer.step(begun, numbers);
        expect(gradientNorm).toBe(norm);
        expect(results.map(({ weight }) => weight)).toEqual([4, 4]);
      }
      expect(norm).toBeCloseTo(globalNorm(sum, alone.trainableCount) / 8, 5);
      const scale = clipFactor(norm, clipNorm) / 8;
      reference.step(expected.subarray(0, alone.trainableCount), sum, { step, learningRate: 0.01, scale });
      applyStatistics(expected, sum, alone.trainableCount, 1 / 8);
    }
    for (const { optimizer } of [one, other]) optimizer.read();
    expect(one.weights).toEqual(other.weights);
    expect(one.state).toEqual(other.state);
    expectClose(one.weights, expected);
    for (const [name, values] of Object.entries(reference.state)) expectClose(one.state[name]!, values);
  });

  it("take the same steps with gradients that come divided by the batch's size", async () => {
    const definition = moduleOf((layers) => [
      layers.dense({ units: 5, inputShape: [6] }),
      layers.batchNormalization({ momentum: 0.5 }),
    ]);
    const [{ model: plain }, { model: scaled }] = [await both(definition), await both(definition)];
    const [one, other] = [attach(plain), attach(scaled)];
    scaled.scaleLoss!(1 / 8);
    for (let step = 1; step <= 4; step++) {
      const batch = randomBatch(definition, 8, `${step}`);
      const leaves = [plain, scaled].map((model) => gradients(model, batch, `${step}`).values);
      expect(leaves[1]).toEqual(leaves[0]!.map((value, i) => (i < plain.trainableCount ? value / 8 : value)));
      const norms = [one, other].map(({ optimizer }, index) => {
        const numbers = { ...update(step, 8), ...(index === 1 && { unscaled: 1 }) };
        if (step % 2 === 1) return optimizer.step(leaves[index]!, numbers).gradientNorm;
        const begun = [plain, scaled][index]!.begin(1);
        begun.add(batch, `${step}`);
        return optimizer.step(begun, numbers).gradientNorm;
      });
      expect(norms[1]).toBe(norms[0]);
    }
    for (const { optimizer } of [one, other]) optimizer.read();
    expect(other.weights).toEqual(one.weights);
    expect(other.state).toEqual(one.state);
  });

  it("take no step if the gradient or the loss is not finite", async () => {
    const { model } = await both(dense());
    const { optimizer, weights, state } = attach(model);
    const sum = new Float32Array(model.parameterCount);
    gradientsOf(model, randomBatch(mlp, 4), "k", sum);
    expect(optimizer.step(sum, update(1, 4)).gradientNorm).toBeGreaterThan(0);
    optimizer.read();
    const before = [weights.slice(), structuredClone(state)];
    expect(optimizer.step(sum.fill(Number.NaN, 3, 4), update(2, 4)).gradientNorm).toBeNaN();
    const extreme = randomBatch(mlp, 4);
    extreme.inputs.fill(Number.POSITIVE_INFINITY);
    for (let call = 0; call < 2; call++) {
      const begun = model.begin(1);
      begun.add(extreme, "k");
      expect(optimizer.step(begun, update(2, 4)).gradientNorm).toBeNaN();
    }
    optimizer.read();
    expect([weights, state]).toEqual(before);
  });

  it("continue from weights and slots that were written", async () => {
    const { model } = await both(dense());
    const { model: resumed } = await both(dense());
    const [one, other] = [attach(model), attach(resumed)];
    const batch = randomBatch(mlp, 4);
    const leaf = new Float32Array(model.parameterCount);
    const stepOf = (trained: TrainableModel, { optimizer }: ReturnType<typeof attach>, step: number) => {
      gradientsOf(trained, batch, `${step}`, leaf);
      optimizer.step(leaf, update(step, 4));
    };
    for (const step of [1, 2]) stepOf(model, one, step);
    one.optimizer.read();
    other.weights.set(one.weights);
    for (const [name, values] of Object.entries(one.state)) other.state[name]!.set(values);
    resumed.writeWeights(other.weights);
    for (const step of [3, 4]) {
      stepOf(model, one, step);
      stepOf(resumed, other, step);
    }
    // Its layers get the weights of the graph.
    expect(resumed.predict(batch.inputs, 4)).toEqual(model.predict(batch.inputs, 4));
    for (const { optimizer } of [one, other]) optimizer.read();
    expect(other.weights).toEqual(one.weights);
    expect(other.state).toEqual(one.state);
  });

  /** Counts the calls of the binding and the bytes that go to TensorFlow and come from it. */
  function counted<T>(body: (counts: Counts) => T): T {
    const counts: Counts = { calls: 0, runs: 0, given: 0, taken: 0 };
    const names = ["executeOp", "createTensor", "deleteTensor", "tensorDataSync", "runSavedModel", "adam"] as const;
    const counters = (binding: NativeBinding) =>
      names.map((name) => {
        const original = binding[name] as (...given: readonly unknown[]) => unknown;
        const counter = (...given: readonly unknown[]) => {
          counts.calls += 1;
          const result = original(...given);
          if (name === "runSavedModel") counts.runs += 1;
          if (name === "createTensor") counts.given += (given[2] as Float32Array).byteLength;
          if (name === "tensorDataSync") counts.taken += (result as Float32Array).byteLength;
          return result;
        };
        return [name, counter] as const;
      });
    return withBinding(
      (binding) => Object.fromEntries(counters(binding)),
      () => body(counts),
    );
  }

  /** Takes operations from a binding. @param onCall gets the name of each operation */
  const lacking =
    (missing: RegExp, onCall = (_op: string): void => {}) =>
    (binding: NativeBinding): Partial<NativeBinding> => ({
      executeOp(op, ...rest) {
        onCall(op);
        if (missing.test(op)) throw new Error(`Op type not registered '${op}'`);
        return binding.executeOp(op, ...rest);
      },
    });

  it.each([
    ["products", /^RingmasterDense/],
    ["operations", /^Ringmaster/],
  ])("compute sums of micro-batches where TensorFlow has no %s of ours", (_, missing) => {
    const called: string[] = [];
    const [rows, microBatches] = [16, 4];
    const batches = Array.from({ length: microBatches }, (__, index) => randomBatch(small, rows, `${index}`));
    const results = () => {
      const model = programOf(small);
      const parts = batches.map((batch, index) => gradients(model, batch, `${index}`).values);
      const total = new Float32Array(model.parameterCount);
      // The first call computes the micro-batches one by one, too; the other uses the graph.
      for (let call = 0; call < 2; call++) {
        const sum = model.begin(microBatches);
        for (const [index, batch] of batches.entries()) sum.add(batch, `${index}`);
        sum.gradients(total.fill(0));
      }
      // The number depends on the shortest time of a micro-batch, which is long on a busy machine.
      for (let again = 0; model.maxSum < microBatches && again < 200; again++) gradients(model, batches[0]!, "0");
      return { parts, total, maxSum: model.maxSum };
    };
    const own = results();
    const stock = withBinding(
      lacking(missing, (op) => called.push(op)),
      results,
    );
    expect(called.some((op) => missing.test(op))).toBe(true); // tried, but not used
    expectClose(stock.total, own.total);
    expect(stock.maxSum).toBeGreaterThanOrEqual(microBatches);
    for (const { into, from } of canonicalAdditions(microBatches))
      add(stock.parts[into]!, 0, stock.parts[into]!, 0, stock.parts[from]!, 0, stock.total.length);
    expect(stock.total).toEqual(stock.parts[0]);
  });

  it("take the steps of an embedding in one call, from its rows, with the bits of its whole gradient", () =>
    counted((counts) => {
      const definition = moduleOf((layers) => [
        layers.embedding({ inputDim: 40, outputDim: 3, inputShape: [6] }),
        layers.flatten(),
      ]);
      const create = () => {
        const model = programOf(definition);
        return { model, ...attach(model, { type: "adam" }, 0.1) };
      };
      const [alone, summing] = [create(), create()];
      const leaf = new Float32Array(alone.model.parameterCount);
      for (let step = 1; step <= 4; step++) {
        const batch = randomBatch(definition, 4, `${step}`);
        batch.inputs.forEach((_, i) => {
          batch.inputs[i] = (7 * i + step) % 5; // most rows of the table have no gradient
        });
        gradientsOf(summing.model, batch, `${step}`, leaf);
        const norm = summing.optimizer.step(leaf, update(step, 4)).gradientNorm;
        if (step === 1) gradientsOf(alone.model, batch, `${step}`, leaf);
        counts.runs = 0;
        const begun = alone.model.begin(1);
        begun.add(batch, `${step}`);
        expect(alone.optimizer.step(begun, update(step, 4)).gradientNorm).toBe(norm);
        if (step > 1) expect(counts.runs).toBe(1);
      }
      for (const { optimizer } of [alone, summing]) optimizer.read();
      expect(alone.weights).toEqual(summing.weights);
      expect(alone.state).toEqual(summing.state);
    }));

  it.each([
    ["in shared memory", true],
    ["on a device, without operations of ours", false],
  ])("take at most 10 calls of the binding a step, keep no tensors, and move what a step needs: %s", (_, sharing) => {
    const check = (counts: Counts) => {
      const definition = { ...mlp, dropout: 0.5, inputShape: [96], hidden: [64, 80] };
      const { binding } = tf.backend() as NativeBackend;
      const model = programOf(definition, sharing);
      const { optimizer } = attach(model);
      const [rows, microBatches] = [4, 3];
      const batch = randomBatch(definition, rows);
      const sum = allocateSum(model.parameterCount);
      const addAll = (to: { add(batch: Batch, key: string): void }) => {
        for (let index = 0; index < microBatches; index++) to.add(batch, `micro-batch ${index}`);
      };
      let step = 0;
      const stepAlone = () => {
        const begun = model.begin(microBatches);
        addAll(begun);
        optimizer.step(begun, update(++step, rows * microBatches));
      };
      const stepOfSum = () => {
        const begun = model.begin(microBatches);
        addAll(begun);
        begun.gradients(sum);
        optimizer.step(sum, update(++step, rows * microBatches));
      };
      gradientsOf(model, batch, "k", sum);
      for (let call = 0; call < 2; call++) for (const take of [stepAlone, stepOfSum]) take();
      const tensors = binding.getNumOfTensors();
      const inputs = microBatches * (rows * (96 + 1) + 1 + 2) + 1; // rows, labels, the weight's sum, the key; the factor of the loss
      const [results, constants, taken] = [microBatches * 2, constantCount, 2];
      const gradient = model.parameterCount;
      for (const [take, given, read, shared] of [
        [stepAlone, inputs + constants, results + taken, results + taken],
        [stepOfSum, inputs + constants + gradient, results + taken + gradient, results],
      ] as const) {
        Object.assign(counts, { calls: 0, runs: 0, given: 0, taken: 0 });
        take();
        if (sharing) expect(counts).toMatchObject({ runs: 1, given: 0, taken: 4 * shared });
        else expect(counts).toMatchObject({ given: 4 * given, taken: 4 * read });
        if (sharing) expect(counts.calls).toBeLessThanOrEqual(10);
      }
      expect(binding.getNumOfTensors()).toBe(tensors);
    };
    withBinding(sharing ? () => ({}) : lacking(/^Ringmaster/), () => counted(check));
  });
});
