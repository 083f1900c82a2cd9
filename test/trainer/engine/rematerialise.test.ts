import os from "node:os";
import * as tf from "@tensorflow/tfjs-core";
import type { ModuleDefinition, Rematerialise } from "../../../core/runs/model-definition";
import type { ModelContext, TensorFlow } from "../../../trainer-container/engine/define-training";
import type { Batch, Execution, TrainableModel } from "../../../trainer-container/engine/engine";
import { PassRunner } from "../../../trainer-container/engine/graph/pass-runner";
import { LayersTrainable } from "../../../trainer-container/engine/layers-trainable";
import type { NativeBinding } from "../../../trainer-container/engine/native-binding";
import { randomBatch } from "./contract";
import { gradientsOf, modelsOf, moduleOf as userModule, weightsOf } from "./models-of";
import { describeNative, startNative, withBinding } from "./native";

type Layers = TensorFlow["layers"];
type Symbolic = ReturnType<ModelContext["tf"]["input"]>;
type Shape = Pick<ModuleDefinition, "inputShape">;

/** @param body layers from the input to the last hidden layer */
function moduleOf(inputShape: readonly number[], body: (layers: Layers, x: Symbolic, tf: TensorFlow) => unknown) {
  const factory = ({ tf: tensorFlow, outputs }: ModelContext) => {
    const input = tensorFlow.input({ shape: [...inputShape] });
    const hidden = body(tensorFlow.layers, input, tensorFlow) as Symbolic;
    const output = tensorFlow.layers.dense({ units: outputs, name: "logits" }).apply(hidden) as Symbolic;
    return tensorFlow.model({ inputs: input, outputs: output });
  };
  return userModule(factory, { inputShape });
}

const add = (layers: Layers, a: unknown, b: unknown, name: string) => layers.add({ name }).apply([a, b] as Symbolic[]);

/** Wide enough that groups of elementwise operations become functions. */
const transformerOf = (blocks: readonly number[]) =>
  moduleOf([64, 64], (layers, input) => {
    let x: unknown = input;
    for (const block of blocks) {
      const attention = layers.multiHeadAttention({ heads: 4, causal: true, dropout: 0.1 });
      x = add(layers, x, attention.apply(layers.layerNormalization({}).apply(x as Symbolic)), `attended${block}`);
      const hidden = layers.gelu().apply(layers.dense({ units: 256 }).apply(x as Symbolic));
      const dropped = layers.dropout({ rate: 0.2 }).apply(hidden);
      x = add(layers, x, layers.dense({ units: 64 }).apply(dropped), `block${block}`);
    }
    return layers.globalAveragePooling1d({}).apply(x as Symbolic);
  });
const transformer = transformerOf([1, 2]);
const everyHalf = ["attended1", "block1", "attended2"];

const residual = moduleOf([12, 12, 2], (layers, input) => {
  const convolution = () => layers.conv2d({ filters: 8, kernelSize: 3, padding: "same" });
  let x: unknown = layers.reLU({ name: "stem" }).apply(convolution().apply(input));
  for (const block of [1, 2, 3]) {
    const normalized = layers.batchNormalization({ momentum: 0.5 }).apply(convolution().apply(x as Symbolic));
    const dropped = layers.dropout({ rate: 0.3 }).apply(layers.reLU().apply(normalized));
    x = add(layers, x, convolution().apply(dropped), `block${block}`);
  }
  return layers.flatten().apply(x as Symbolic);
});

const recurrent = moduleOf([3, 4], (layers, input, { sequential }) => {
  const inner = sequential({ layers: [layers.simpleRNN({ units: 8, returnSequences: true, inputShape: [3, 4] })] });
  const gru = layers.gru({ units: 8, returnSequences: true, name: "gru", dropout: 0.2 });
  const both = layers.bidirectional({ layer: gru, mergeMode: "concat", name: "both" } as never);
  return layers.flatten().apply(both.apply(inner.apply(input) as Symbolic));
});

const lstm = moduleOf([6, 4], (layers, input) =>
  layers.flatten().apply(layers.lstm({ units: 8, returnSequences: true, name: "lstm" }).apply(input) as Symbolic),
);

describeNative("rematerialisation", () => {
  const executions: Execution[] = [];
  const models = modelsOf(() => startNative({ onExecution: (each) => executions.push(each) }));
  afterEach(() => {
    jest.restoreAllMocks();
    executions.length = 0;
  });

  const create = (definition: ModuleDefinition, rematerialise: Rematerialise) =>
    models.create({ ...definition, rematerialise });

  function train(model: TrainableModel, batches: readonly Batch[]) {
    const weights = weightsOf(model);
    return batches.map((batch, step) => {
      const gradient = new Float32Array(model.parameterCount).fill(Number.NaN);
      const result = gradientsOf(model, batch, `step ${step}`, gradient);
      for (const [index, value] of gradient.entries()) weights[index]! -= 0.05 * value;
      model.writeWeights(weights);
      return { result, gradient };
    });
  }

  const batchesOf = (definition: Shape & ModuleDefinition) =>
    ["a", "b", "c"].map((key) => randomBatch(definition, 8, key));

  /** Returns the number of cuts of each recorded pass, or false for one that the tape computes. */
  const cuts = () => executions.map((each) => each.engine === "graph" && (each.rematerialised ?? 0));

  const whole = new Map<ModuleDefinition, ReturnType<typeof train>>();
  /** Returns losses and gradients of the model that is not cut. It is compiled once. */
  async function expectedOf(definition: ModuleDefinition) {
    if (!whole.has(definition)) {
      whole.set(definition, train(await create(definition, "auto"), batchesOf(definition)));
      expect(cuts()).toEqual([0]);
      executions.length = 0;
    }
    return whole.get(definition)!;
  }

  const cases: readonly (readonly [string, ModuleDefinition, readonly (readonly string[])[]])[] = [
    ["a transformer with dropout", transformer, [everyHalf]],
    [
      "a residual network with batch normalization and dropout",
      residual,
      [
        ["stem", "block1", "block2"],
        ["batch_normalization_BatchNormalization2", "re_lu_ReLU3"],
      ],
    ],
    ["recurrent layers, one of them nested", recurrent, [["simple_rnn_SimpleRNN1", "both"]]],
    ["an LSTM with hard sigmoid gates", lstm, [["lstm"]]],
  ];

  it.each(cases)("gives the same bits: %s", async (_, definition, lists) => {
    const batches = batchesOf(definition);
    const expected = await expectedOf(definition);
    for (const list of lists) {
      const found = train(await create(definition, list), batches);
      for (const [step, { result, gradient }] of found.entries()) {
        expect(result).toEqual(expected[step]?.result);
        const same = Buffer.compare(Buffer.from(gradient.buffer), Buffer.from(expected[step]!.gradient.buffer)) === 0;
        expect({ list, step, same }).toEqual({ list, step, same: true });
      }
    }
    expect(cuts()).toEqual(lists.map((list) => list.length));
  });

  it("gives the same bits in a pass whose rows the tape does not compute, and checks its first rows", async () => {
    const batches = batchesOf(lstm);
    const expected = await expectedOf(lstm);
    jest.spyOn(LayersTrainable.prototype, "outputBytes").mockReturnValue(Number.POSITIVE_INFINITY);
    const digest = jest.spyOn(PassRunner.prototype, "digest");
    expect(train(await create(lstm, ["lstm"]), batches)).toEqual(expected);
    expect(executions.at(-1)).toMatchObject({ engine: "graph", rematerialised: 1 });
    // All values of all rows would take the memory that the cuts save.
    expect(digest.mock.calls.map(([pass]) => pass.staging.shape.rows)).toEqual([4, 4]);

    digest.mockReturnValueOnce("whole").mockReturnValueOnce("other");
    expect(train(await create(lstm, ["lstm"]), batches)).toEqual(expected);
    expect(executions.at(-1)).toMatchObject({ engine: "graph", rematerialised: 0 });
  });

  it("gives the same bits in a large pass that does not follow from its first rows", async () => {
    const batches = ["a", "b"].map((key) => randomBatch(residual, 12, key));
    const expected = train(await create(residual, "none"), batches);
    jest.spyOn(LayersTrainable.prototype, "outputBytes").mockReturnValue(Number.POSITIVE_INFINITY);
    expect(train(await create(residual, ["stem", "block2"]), batches)).toEqual(expected);
    expect(executions.at(-1)).toMatchObject({ engine: "graph", rematerialised: 2 });
  });

  it("keeps all values if a bit would differ", async () => {
    // No model is known whose bits differ.
    const digest = jest.spyOn(PassRunner.prototype, "digest");
    const batches = batchesOf(lstm);
    const expected = await expectedOf(lstm);
    digest.mockReturnValueOnce("whole").mockReturnValueOnce("other");
    expect(train(await create(lstm, ["lstm"]), batches)).toEqual(expected);
    expect(executions.at(-1)).toMatchObject({ engine: "graph", rematerialised: 0 });
  });

  /** Returns the largest number of bytes that a call of `body` has in TensorFlow.js's tensors. */
  function peakOf(body: () => unknown): number {
    const sizes = new Map<number, number>();
    let bytes = 0;
    let peak = 0;
    const created = (id: number, shape: readonly number[]) => {
      const size = shape.reduce((product, side) => product * side, 4);
      sizes.set(id, size);
      bytes += size;
      peak = Math.max(peak, bytes);
    };
    const spies = (binding: NativeBinding): Partial<NativeBinding> => ({
      createTensor: (shape, type, values) => {
        const id = binding.createTensor(shape, type, values);
        created(id, shape);
        return id;
      },
      executeOp: (...given) => {
        const outputs = binding.executeOp(...given);
        for (const { id, shape } of outputs) created(id, shape);
        return outputs;
      },
      deleteTensor: (id) => {
        bytes -= sizes.get(id) ?? 0;
        binding.deleteTensor(id);
      },
    });
    withBinding(spies, body);
    return peak;
  }

  it("records a pass with less than half of the memory, and keeps no tensors", async () => {
    const deep = transformerOf([1, 2, 3]);
    const batch = randomBatch(deep, 16);
    const [whole, cut] = [await create(deep, "none"), await create(deep, [...everyHalf, "block2", "attended3"])];
    const gradient = new Float32Array(whole.parameterCount);
    const expected = peakOf(() => gradientsOf(whole, batch, "k", gradient));
    const before = tf.memory().numTensors;
    expect(peakOf(() => gradientsOf(cut, batch, "k", gradient))).toBeLessThan(0.5 * expected);
    expect(tf.memory().numTensors).toBe(before);
  });

  it("cuts a model by itself if a pass would not fit into half of the memory", async () => {
    const batches = batchesOf(transformer);
    const expected = await expectedOf(transformer);
    jest.spyOn(os, "totalmem").mockReturnValue(32 * 2 ** 20);
    const model = await create(transformer, "auto");
    expect(train(model, batches)).toEqual(expected);
    expect(cuts()[0]).toBeGreaterThan(1);
    expect(model.maxSum).toBe(1);
  });

  it.each<[unknown, RegExp]>([
    [["block1", "block9"], /names the layer "block9", which the model does not have; its layers are .*block1, /],
    ["always", /rematerialise is "always", but it must be 'auto', 'none' or a list of the names of layers/],
    [[], /rematerialise is \[\], but it must be/],
    [[3], /names the layer 3, which/],
    [true, /rematerialise is true, but/],
  ])("refuses %j", async (value, message) => {
    await expect(create(transformer, value as Rematerialise)).rejects.toThrow(message);
  });
});
