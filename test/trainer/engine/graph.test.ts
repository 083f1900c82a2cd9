/** Recorded graphs against the layers' tape. Runs where the native binding is installed. */
import * as tf from "@tensorflow/tfjs-core";
import type { ModuleDefinition } from "../../../core/runs/model-definition";
import { add } from "../../../trainer-container/collective/add";
import { allocateSum } from "../../../trainer-container/collective/sum-memory";
import { buildModel } from "../../../trainer-container/engine/build-model";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { LossFunction, ModelContext, TensorFlow } from "../../../trainer-container/engine/define-training";
import type { Batch, Engine, Execution, TrainableModel } from "../../../trainer-container/engine/engine";
import { LayersTrainable } from "../../../trainer-container/engine/layers-trainable";
import { findBinding, type NativeBinding } from "../../../trainer-container/engine/native-binding";
import { canonicalAdditions } from "../../../trainer-container/reduction/tree";
import { cnn, mlp, randomBatch } from "./contract";

type LayersModel = ReturnType<TensorFlow["sequential"]>;
type Layers = TensorFlow["layers"];

function moduleOf(
  build: (layers: Layers) => LayersModel["layers"],
  extra: Partial<Omit<ModuleDefinition, "factory">> = {},
): ModuleDefinition {
  const factory = ({ tf: { sequential, layers }, outputs }: ModelContext) =>
    sequential({ layers: [...build(layers), layers.dense({ units: outputs })] });
  const shape = { inputShape: [6], outputs: 3, task: "classification" } as const;
  return { type: "module", ...shape, ...extra, factory } as unknown as ModuleDefinition;
}

const dense = (extra: Partial<Omit<ModuleDefinition, "factory">> = {}): ModuleDefinition =>
  moduleOf((layers) => [layers.dense({ units: 5, inputShape: [6], activation: "tanh" })], extra);
const loss = (compute: LossFunction): Pick<ModuleDefinition, "loss"> => ({
  loss: compute as unknown as ModuleDefinition["loss"],
});
const squares: LossFunction = (labels, outputs) =>
  tf.squaredDifference(tf.oneHot(tf.cast(labels, "int32"), 3), outputs).mean(1);

/** Checks that no element differs by more than 1e-5. */
function expectClose(found: Float32Array, expected: Float32Array): void {
  const differences = expected.map((value, index) => Math.abs(value - (found[index] as number)));
  expect(Math.max(...differences)).toBeLessThan(1e-5);
}

const suite = findBinding("cpu") ? describe : describe.skip;

suite("recorded graphs", () => {
  let engine: Engine;
  const created: TrainableModel[] = [];
  const executions: Execution[] = [];

  beforeAll(async () => {
    const onExecution = (execution: Execution) => executions.push(execution);
    engine = await createEngine({ preferred: "native", threads: 1, onExecution });
  });
  afterEach(() => {
    executions.length = 0;
    for (const model of created.splice(0)) model.dispose();
  });

  async function both(definition: ModuleDefinition | typeof mlp | typeof cnn) {
    const model = await engine.createModel(definition, 1);
    const tape = new LayersTrainable(buildModel(definition, 1), definition);
    created.push(model, tape);
    return { model, tape };
  }

  function gradients(model: TrainableModel, batch: Batch, key = "k") {
    const values = new Float32Array(model.parameterCount).fill(Number.NaN);
    const result = model.gradients(batch, key, values);
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
    [
      "an embedding",
      moduleOf((layers) => [layers.embedding({ inputDim: 5, outputDim: 2, inputShape: [2] }), layers.flatten()], {
        inputShape: [2],
      }),
    ],
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
    ["regression with its own loss and metrics", dense({ ...loss(squares), metrics: { squares: squares as never } })],
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

  it("draw by the key of the pass alone", async () => {
    const definition = { ...mlp, dropout: 0.5 };
    const { model } = await both(definition);
    const { model: another } = await both(definition);
    const batch = randomBatch(definition, 8);
    const first = gradients(model, batch, "step 1 microshard 0");
    const second = gradients(model, batch, "step 2 microshard 0");
    expect(second.values).not.toEqual(first.values);
    expect(gradients(model, batch, "step 1 microshard 0")).toEqual(first);
    // The other model records its graph with another key.
    expect(gradients(another, batch, "step 2 microshard 0")).toEqual(second);
    expect(gradients(another, batch, "step 1 microshard 0")).toEqual(first);
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
    ["draws in JavaScript", (labels, outputs) => squares(labels, outputs).mul(Math.random()), /draws random numbers/],
  ])("leave a model to the tape if its loss %s", async (_, compute, reason) => {
    const { model, tape } = await both(dense(loss(compute)));
    const batch = randomBatch(mlp, 4);
    expect(gradients(model, batch)).toEqual(gradients(tape, batch));
    expect(gradients(model, batch, "2")).toEqual(gradients(tape, batch, "2"));
    const [execution] = executions as [Extract<Execution, { engine: "tape" }>];
    expect(execution).toMatchObject({ pass: "gradients", engine: "tape" });
    expect(execution.reason.message).toMatch(reason);
    expect(execution.reason.stack).toContain("graph.test.ts"); // the place in user code
    expect(executions).toHaveLength(1);
  });

  it("leave a model to the tape whose loss depends on the number of calls", async () => {
    let calls = 0;
    const { model } = await both(dense(loss((labels, outputs) => squares(labels, outputs).mul(++calls))));
    gradients(model, randomBatch(mlp, 4));
    expect(executions).toMatchObject([
      { engine: "tape", reason: { message: expect.stringMatching(/between two calls/) } },
    ]);
  });

  it("refuse an embedding's index that is out of range", async () => {
    const definition = moduleOf(
      (layers) => [layers.embedding({ inputDim: 5, outputDim: 2, inputShape: [2] }), layers.flatten()],
      { inputShape: [2] },
    );
    const { model } = await both(definition);
    const batch = { inputs: Float32Array.of(1, 4), labels: Int32Array.of(0), rows: 1 };
    gradients(model, batch);
    const outside = { ...batch, inputs: Float32Array.of(1, 5) };
    expect(() => gradients(model, outside)).toThrow(/model and loss cannot be computed.* = 5 is not in \[0, 5\)/s);
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

  it.each([2, 3, 6, 8])("add %i microshards with the bits of single additions", async (count) => {
    const definition = { ...mlp, dropout: 0.5, hidden: [24, 16] };
    const { model } = await both(definition);
    const batches = Array.from({ length: count }, (_, index) => randomBatch(definition, 4, `batch ${index}`));
    const parts = batches.map((batch, index) => gradients(model, batch, `microshard ${index}`));
    const expected = parts.map(({ values }) => values);
    for (const { into, from } of canonicalAdditions(count)) {
      add(expected[into]!, 0, expected[into]!, 0, expected[from]!, 0, expected[into]!.length);
    }
    expect(model.maxSum).toBeGreaterThanOrEqual(count);
    // The first call computes the microshards one by one, too; the others use the graph.
    for (let call = 0; call < 3; call++) {
      const sum = model.beginSum!(count);
      for (const [index, batch] of batches.entries()) sum.add(batch, `microshard ${index}`);
      const total = new Float32Array(model.parameterCount);
      expect(sum.finish(total)).toEqual(parts.map(({ result }) => result));
      expect(total).toEqual(expected[0]);
      expect(model.maxSum).toBeGreaterThan(1);
    }
  });

  it("refuse row weights in a sum", async () => {
    const { model } = await both(dense());
    const batch = randomBatch(mlp, 4);
    gradients(model, batch);
    const weighted = { ...batch, weights: Float32Array.of(1, 0, 2, 1) };
    expect(() => model.beginSum!(2).add(weighted, "k")).toThrow("A batch has row weights");
  });

  it("keep no tensors, and take at most 10 calls of the binding for any number of microshards", async () => {
    const backend = tf.backend() as unknown as { binding: NativeBinding };
    const { binding } = backend;
    let calls = 0;
    const names = ["executeOp", "createTensor", "deleteTensor", "tensorDataSync", "runSavedModel"] as const;
    const counters = names.map((name) => {
      const original = binding[name] as (...given: readonly unknown[]) => unknown;
      const value = (...given: readonly unknown[]) => {
        calls += 1;
        return original(...given);
      };
      return [name, { value }] as const;
    });
    backend.binding = Object.create(binding, Object.fromEntries(counters)) as NativeBinding;
    try {
      const definition = { ...mlp, dropout: 0.5, inputShape: [96], hidden: [64, 80] };
      const { model } = await both(definition);
      const batch = randomBatch(definition, 4);
      const leaf = allocateSum(model.parameterCount);
      const steps = [
        () => model.gradients(batch, "k", leaf),
        ...[2, 4].map((microshards) => () => {
          const sum = model.beginSum!(microshards);
          for (let index = 0; index < microshards; index++) sum.add(batch, `microshard ${index}`);
          sum.finish(leaf);
        }),
        () => model.evaluate(batch),
      ];
      for (const step of steps) step();
      const tensors = binding.getNumOfTensors();
      for (const step of steps) {
        calls = 0;
        step();
        expect(calls).toBeGreaterThan(0);
        expect(calls).toBeLessThanOrEqual(10);
      }
      expect(binding.getNumOfTensors()).toBe(tensors);
    } finally {
      backend.binding = binding;
    }
  });
});
