import * as tf from "@tensorflow/tfjs-core";
import { type LayersModel, layers, regularizers, type SymbolicTensor } from "@tensorflow/tfjs-layers";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { LossFunction, ModelContext, TensorFlow } from "../../../trainer-container/engine/define-training";
import type { Engine } from "../../../trainer-container/engine/engine";
import { timeLimit } from "../../../trainer-container/engine/user-code";
import { gradientError, mlp, randomBatch } from "./contract";
import { gradientOf, modelsOf, moduleOf, stack, weightsOf } from "./models-of";

type Layer = LayersModel["layers"][number];

const dense = stack((layers, { inputShape, outputs }) => [
  layers.dense({ units: outputs, inputShape: [...inputShape] }),
]);

const embedding = moduleOf(
  stack((layers, { outputs }) => [
    layers.embedding({ inputDim: 5, outputDim: 2, inputShape: [2] }),
    layers.flatten(),
    layers.dense({ units: outputs }),
  ]),
  { inputShape: [2] },
);

export function describeModuleContract(name: string, start: () => Promise<Engine>): void {
  describe(`engine contract for modules: ${name}`, () => {
    const { engine, created, create } = modelsOf(start);

    it("trains what the module builds from its context", async () => {
      let seen: ModelContext | undefined;
      const factory = (context: ModelContext): LayersModel => {
        seen = context;
        return dense(context);
      };
      const model = await create(moduleOf(factory, { hyperparameters: { width: 3 } }), 8);
      expect(seen).toMatchObject({ inputShape: [6], outputs: 3, task: "classification", seed: 8 });
      expect(seen?.hyperparameters).toEqual({ width: 3 });
      expect(gradientError(model, randomBatch(mlp, 4))).toBeLessThan(2e-3);
    });

    const squares: LossFunction = (labels, outputs) => tf.mean(tf.squaredDifference(labels, outputs), 1);
    const metrics = { error: ((labels, outputs) => tf.mean(tf.abs(tf.sub(labels, outputs)))) as LossFunction };
    const zeros = { kernelInitializer: "zeros" } as const;
    const functional = ({ tf: { input, layers, model }, outputs }: ModelContext): LayersModel => {
      const row = input({ shape: [6] });
      const output = layers.dense({ units: outputs, name: "label", ...zeros }).apply(row) as SymbolicTensor;
      return model({ inputs: row, outputs: output });
    };
    it.each<[string, (context: ModelContext) => LayersModel, LossFunction | undefined]>([
      ["sequential", stack((layers) => [layers.dense({ units: 1, inputShape: [6], ...zeros })]), undefined],
      ["sequential, own loss", stack((layers) => [layers.dense({ units: 1, inputShape: [6], ...zeros })]), squares],
      ["functional", functional, undefined],
      ["functional, own loss", functional, squares],
    ])("starts at the mean of a standardised label: %s", async (_, factory, loss) => {
      const regression = { task: "regression", outputs: 1, label: { mean: 300, deviation: 50 }, metrics } as const;
      const model = await create(moduleOf(factory, { ...regression, ...(loss ? { loss } : {}) }));
      const batch = { rows: 2, inputs: new Float32Array(12).fill(1), labels: Float32Array.of(250, 350) };
      expect(model.evaluate(batch)).toMatchObject({ loss: 2, weight: 2, metrics: { error: 100 } });
      expect(gradientError(model, { ...batch, labels: Float32Array.of(300, 380) })).toBeLessThan(2e-3);
    });

    it.each<[string, readonly number[], (layers: TensorFlow["layers"]) => readonly Layer[]]>([
      [
        "separable and strided convolutions, average pooling",
        [6, 6, 2],
        (layers) => [
          layers.separableConv2d({ filters: 4, kernelSize: 3, activation: "tanh" }),
          layers.conv2d({ filters: 3, kernelSize: 2, strides: 2, activation: "sigmoid" }),
          layers.averagePooling2d({ poolSize: 2 }),
        ],
      ],
      [
        "layer normalisation and a penalty",
        [6],
        (layers) => [
          layers.dense({ units: 4, kernelRegularizer: regularizers.l2({ l2: 0.1 }), activation: "selu" }),
          layers.layerNormalization(),
        ],
      ],
      [
        "dilated convolutions, also depthwise and separable",
        [10, 10, 2],
        (layers) => [
          layers.conv2d({ filters: 3, kernelSize: 2, dilationRate: 2 }),
          layers.conv2d({ filters: 3, kernelSize: 3, dilationRate: 2, padding: "same", activation: "tanh" }),
          layers.depthwiseConv2d({ kernelSize: 2, dilationRate: 2 }),
          layers.separableConv2d({ filters: 3, kernelSize: 2, dilationRate: 2, activation: "tanh" }),
        ],
      ],
      [
        "dilated causal convolutions of sequences",
        [6, 3],
        (layers) => {
          const options = { filters: 4, kernelSize: 2, dilationRate: 2, padding: "causal" } as const;
          return [layers.conv1d({ ...options, activation: "tanh" }), layers.conv1d(options)];
        },
      ],
      [
        "transposed convolutions, upsampling, resizing, padding and cropping",
        [3, 3, 2],
        (layers) => [
          layers.conv2dTranspose({ filters: 3, kernelSize: 3, strides: 2, padding: "same" }),
          layers.upSampling2d({ size: [2, 2] }),
          layers.zeroPadding2d({ padding: 1 }),
          layers.cropping2D({ cropping: [[1, 2], [0, 1]] }), // biome-ignore format: pairs
          layers.upSampling2d({ size: [2, 2], interpolation: "bilinear" }),
          layers.resizing({ height: 4, width: 5 }),
        ],
      ],
      [
        "volumes",
        [3, 3, 3, 2],
        (layers) => [
          layers.conv3d({ filters: 2, kernelSize: 2, activation: "tanh" }),
          layers.conv3dTranspose({ filters: 2, kernelSize: 2 }),
          layers.averagePooling3d({ poolSize: 2, strides: 1 }),
        ],
      ],
      ["a recurrent convolution", [3, 4, 4, 1], (each) => [each.convLstm2d({ filters: 2, kernelSize: 2 })]],
      [
        "both directions, a layer of each step, and stacked recurrent cells",
        [4, 3],
        (layers) => [
          layers.bidirectional({ layer: layers.lstm({ units: 3, returnSequences: true }) } as never),
          layers.timeDistributed({ layer: layers.dense({ units: 2, activation: "tanh" }) }),
          layers.permute({ dims: [2, 1] }),
          layers.rnn({ cell: [layers.gruCell({ units: 4 }), layers.lstmCell({ units: 3 })] }),
        ],
      ],
      [
        "activations with parameters",
        [6],
        (layers) => [
          layers.dense({ units: 3 }),
          // Before the others, because PReLU's slope of 0 gives values at the corner of this one.
          layers.leakyReLU(),
          layers.prelu(),
          layers.elu(),
          layers.dense({ units: 4, activation: "swish" }),
          layers.softmax({}),
          layers.dense({ units: 4, activation: "mish" }),
        ],
      ],
      [
        "a recurrent cell with dropout left out, and repeated vectors",
        [6],
        (layers) => [
          layers.dense({ units: 3, activation: "softsign" }),
          layers.repeatVector({ n: 3 }),
          layers.simpleRNN({ units: 3, returnSequences: true }),
          layers.gru({ units: 3, goBackwards: true }),
        ],
      ],
    ])("has the gradient of its loss: %s", async (_, inputShape, build) => {
      const factory = stack((each, { outputs }) => {
        const hidden = build(each);
        const flat = inputShape.length > 1 && !/^rnn/.test(hidden.at(-1)!.name) ? [each.flatten()] : [];
        return [each.inputLayer({ inputShape: [...inputShape] }), ...hidden, ...flat, each.dense({ units: outputs })];
      });
      const definition = moduleOf(factory, { inputShape });
      expect(gradientError(await create(definition), randomBatch(definition, 4))).toBeLessThan(5e-3);
    });

    it("freezes wrapped layers", async () => {
      const factory = stack((layers, { outputs }) => [
        layers.reshape({ targetShape: [3, 2], inputShape: [6] }),
        layers.timeDistributed({ layer: layers.dense({ units: 2 }), trainable: false }),
        layers.bidirectional({ layer: layers.gru({ units: 2 }), mergeMode: "sum", trainable: false }),
        layers.dense({ units: outputs, useBias: false }),
      ]);
      const model = await create(moduleOf(factory));
      expect(model.layout.filter(({ trainable }) => trainable).map(({ name }) => name)).toEqual([
        expect.stringMatching(/^dense/),
      ]);
    });

    it("looks embeddings up and sends their gradients back to the rows used", async () => {
      const model = await create(embedding);
      const batch = { inputs: new Float32Array([1, 3, 1, 1]), labels: new Int32Array([0, 2]), rows: 2 };
      const { gradient } = gradientOf(model, batch);
      const rowIsZero = [0, 1, 2, 3, 4].map((row) => gradient[row * 2] === 0 && gradient[row * 2 + 1] === 0);
      expect(rowIsZero).toEqual([true, false, true, false, true]);
    });

    it("hands running statistics back as a gradient, and leaves the model's own as they were (by hand)", async () => {
      const factory = stack((layers, { outputs }) => [
        layers.batchNormalization({ inputShape: [6], momentum: 0.5 }),
        layers.dense({ units: outputs }),
      ]);
      const model = await create(moduleOf(factory));
      expect(model.layout.map(({ trainable }) => trainable)).toEqual([true, true, true, true, false, false]);
      expect(model.parameterCount - model.trainableCount).toBe(12);
      const before = weightsOf(model);
      // Column 0 holds 1 and 3: mean 2. The moving mean goes from 0 to 0.5·0 + 0.5·2 = 1, so 2 rows × (0 − 1) = −2.
      const inputs = new Float32Array(12);
      inputs[0] = 1;
      inputs[6] = 3;
      const { gradient } = gradientOf(model, { inputs, labels: new Int32Array([0, 1]), rows: 2 });
      expect(gradient[model.trainableCount]).toBeCloseTo(-2, 5);
      expect(gradient[model.trainableCount + 1]).toBeCloseTo(0, 5);
      expect(weightsOf(model)).toEqual(before);
    });

    it("takes a scalar loss for the mean of the rows, a vector for the rows' losses", async () => {
      const rowLosses: LossFunction = (labels, outputs) =>
        tf.sum(tf.square(tf.sub(outputs, tf.expandDims(tf.cast(labels, "float32"), 1))), 1);
      const mean: LossFunction = (labels, outputs) => tf.mean(rowLosses(labels, outputs));
      const batch = randomBatch(mlp, 4);
      const results = await Promise.all(
        [rowLosses, mean].map(async (loss) => {
          const model = await create(moduleOf(dense, { loss, metrics: { same: mean } }));
          return gradientOf(model, batch).result;
        }),
      );
      expect(results[1]?.loss).toBeCloseTo(results[0]?.loss as number, 4);
      expect(results[0]?.metrics?.same).toBeCloseTo(results[0]?.loss as number, 4);
      const model = await create(moduleOf(dense, { loss: mean }));
      const weighted = { ...batch, weights: new Float32Array(4).fill(1) };
      expect(() => model.evaluate(weighted)).toThrow(/scalar, which row weights cannot reach/);
      const ofClasses = await create({ ...moduleOf(dense, { loss: mean }), classWeights: [1, 2, 3] });
      expect(() => gradientOf(ofClasses, batch)).toThrow(/scalar, which hyperparameters.classWeights cannot reach/);
    });

    it("counts a penalty once for each unit of weight", async () => {
      const factory = stack((layers, { tf: { regularizers } }) => [
        layers.dense({ units: 1, inputShape: [1], kernelRegularizer: regularizers.l2({ l2: 0.5 }) }),
      ]);
      const model = await create(moduleOf(factory, { inputShape: [1], outputs: 1, task: "regression" }));
      model.writeWeights(new Float32Array([2, 0]));
      const batch = { inputs: new Float32Array([1, 1]), labels: new Float32Array([2, 2]), rows: 2 }; // no error
      const { result, gradient } = gradientOf(model, batch);
      expect(result.loss).toBeCloseTo(2 * 0.5 * 4, 5);
      expect(Array.from(gradient)).toEqual([2 * 2 * 0.5 * 2, 0]);
    });

    it.each<[string, (layers: TensorFlow["layers"], l2: (factor: number) => never) => LayersModel["layers"][number]]>([
      ["a GRU", (each, l2) => each.gru({ units: 2, kernelRegularizer: l2(0.5), recurrentRegularizer: l2(0.5) })],
      [
        "both directions of a recurrent layer",
        (each, l2) =>
          each.bidirectional({ layer: each.lstm({ units: 2, kernelRegularizer: l2(0.5) }) as never, mergeMode: "sum" }),
      ],
      ["cells", (each, l2) => each.rnn({ cell: [each.lstmCell({ units: 2, biasRegularizer: l2(0.5) })] })],
      ["wraps", (each, l2) => each.timeDistributed({ layer: each.dense({ units: 2, kernelRegularizer: l2(0.5) }) })],
    ])("penalises the weights of %s, once where the layer is applied twice", async (_, build) => {
      const factory = ({ tf: { input, layers: each, model, regularizers } }: ModelContext): LayersModel => {
        const rows = input({ shape: [6] });
        const layer = build(each, (factor) => regularizers.l2({ l2: factor }) as never);
        const apply = (step: LayersModel["layers"][number], to: unknown) =>
          step.apply(to as SymbolicTensor) as SymbolicTensor;
        const sequence = apply(each.reshape({ targetShape: [3, 2] }), rows);
        const sum = apply(each.add(), [apply(layer, sequence), apply(layer, apply(each.reLU(), sequence))]);
        const flat = sum.rank === 2 ? sum : apply(each.flatten(), sum);
        return model({ inputs: rows, outputs: apply(each.dense({ units: 3, useBias: false }), flat) });
      };
      const model = await create(moduleOf(factory));
      // Weights of the last layer are 0, so the loss of the rows is that of equal logits.
      const last = model.layout.findLast(({ trainable }) => trainable)!;
      const weights = weightsOf(model).fill(0, last.offset);
      for (const { name, offset, size } of model.layout) if (/bias/.test(name)) weights.fill(2, offset, offset + size);
      model.writeWeights(weights);
      const { result, gradient } = gradientOf(model, randomBatch(mlp, 4));
      const penalised = gradient.map((value) => value / 4); // 2 · 0.5 · weight, or 0
      const squares = penalised.slice(0, last.offset).reduce((total, value) => total + value * value, 0);
      expect(squares).toBeGreaterThan(0.1);
      expect(result.loss / 4 - Math.log(3)).toBeCloseTo(0.5 * squares, 4);
      for (const [index, value] of penalised.slice(0, last.offset).entries())
        if (value !== 0) expect(value).toBeCloseTo(weights[index]!, 4);
    });

    it("names weights, also of wrapped layers and cells, and layers alike however many models the process has built", async () => {
      const factory = stack((layers, { outputs }) => [
        layers.dense({ units: 6, inputShape: [6] }),
        layers.dropout({ rate: 0.5, name: "mine" }),
        layers.reshape({ targetShape: [3, 2] }),
        layers.bidirectional({ layer: layers.lstm({ units: 2, returnSequences: true }), mergeMode: "concat" }),
        layers.rnn({ cell: [layers.gruCell({ units: 4 }), layers.simpleRNNCell({ units: 2 })] }),
        layers.dense({ units: outputs }),
      ]);
      const [first, second] = [await create(moduleOf(factory)), await create(moduleOf(factory))];
      const names = first.layout.map(({ name }) => name);
      expect(names.filter((name) => name.startsWith("dense"))).toEqual(
        [1, 2].flatMap((index) => [`dense_Dense${index}/kernel`, `dense_Dense${index}/bias`]),
      );
      expect(names).toContain("bidirectional_Bidirectional1/forward_lstm_LSTM1/kernel");
      expect(names).toContain("bidirectional_Bidirectional1/backward_lstm_LSTM1/bias");
      expect(second.layout).toEqual(first.layout);
      expect(second.topology()).toBe(first.topology());
      expect(first.topology()).toContain('"mine"');
    });

    it("seeds Math.random for the module's own draws", async () => {
      const draws: number[] = [];
      const factory = (context: ModelContext): LayersModel => {
        draws.push(Math.random());
        return dense(context);
      };
      for (const seed of [1, 1, 2]) await create(moduleOf(factory), seed);
      expect(draws[0]).toBe(draws[1]);
      expect(draws[2]).not.toBe(draws[0]);
    });

    it.each<[string, LossFunction]>([
      ["truth values by row", (labels, outputs) => tf.equal(tf.argMax(outputs, 1), labels)],
      ["integers by row", (labels, outputs) => tf.cast(tf.equal(tf.argMax(outputs, 1), labels), "int32")],
    ])("takes metrics of %s, in training and in validation", async (_, same) => {
      const model = await create(moduleOf(dense, { metrics: { same } }));
      const batch = { ...randomBatch(mlp, 5), weights: Float32Array.of(1, 2, 1, 0, 1) };
      for (const given of [batch, randomBatch(mlp, 5)]) {
        const { result: trained } = gradientOf(model, given);
        expect(trained.metrics).toEqual({ same: trained.correct });
        expect(model.evaluate(given).metrics).toEqual({ same: trained.correct });
      }
    });

    it.each([undefined, 7])("draws classes from a call's key alone, with the seed %s", async (seed) => {
      const loss: LossFunction = (_, outputs) => {
        const drawn = tf.oneHot(tf.squeeze(tf.multinomial(outputs as tf.Tensor2D, 1, seed), [1]), 3);
        return tf.neg(tf.sum(tf.mul(drawn, tf.logSoftmax(outputs)), 1));
      };
      const model = await create(moduleOf(dense, { loss }));
      const gradientBy = (key: string) => gradientOf(model, randomBatch(mlp, 16), key).gradient;
      const first = gradientBy("a");
      const other = gradientBy("b");
      expect(gradientBy("a")).toEqual(first);
      if (seed === undefined) expect(other).not.toEqual(first);
    });

    it("draws classes as often as their shares say", () => {
      const shares = [0.1, 0.6, 0.3];
      const counts = tf.tidy(() => {
        const drawn = tf.multinomial(tf.log(tf.tensor2d([shares])) as tf.Tensor2D, 10_000, 3);
        return tf.sum(tf.oneHot(tf.reshape(drawn, [-1]), 3), 0).arraySync() as number[];
      });
      for (const [index, share] of shares.entries()) expect(counts[index]! / 10_000).toBeCloseTo(share, 1);
    });

    it("takes layers that write into the shapes of stock TensorFlow.js", async () => {
      const encoded = stack((each, { outputs }) => [
        each.categoryEncoding({ numTokens: 4, inputShape: [6] }),
        each.dense({ units: outputs }),
      ]);
      const cropped = stack((each, { outputs }) => [
        each.centerCrop({ height: 2, width: 2, inputShape: [4, 4, 1] }),
        each.flatten(),
        each.dense({ units: outputs }),
      ]);
      const predict = async (factory: typeof encoded, inputShape: readonly number[], inputs: readonly number[]) =>
        (await create(moduleOf(factory, { inputShape }))).predict(Float32Array.from(inputs), 1);
      expect(await predict(encoded, [6], [0, 1, 2, 3, 0, 1])).toHaveLength(3);
      const ids = { ...randomBatch(mlp, 3), inputs: Float32Array.from({ length: 18 }, (_, i) => (i * i) % 4) };
      expect(gradientError(await create(moduleOf(encoded)), ids)).toBeLessThan(2e-3);
      expect(await predict(cropped, [4, 4, 1], Array(16).fill(0.5))).toHaveLength(3);
    });

    it.each<[string, LossFunction, RegExp]>([
      ["a tensor of an earlier call", cached(), /threw .*a tensor that is disposed.*top level/s],
      [
        "its disposed outputs",
        (_, outputs) => {
          const mean = tf.mean(outputs);
          outputs.dispose();
          return mean;
        },
        /loss\(\) disposed of its outputs, .*remove the call of dispose/,
      ],
    ])("refuses a loss that uses %s", async (_, loss, message) => {
      const model = await create(moduleOf(dense, { loss }));
      const train = () => gradientOf(model, randomBatch(mlp, 2));
      expect(() => [train(), train()]).toThrow(userCode(message));
    });

    const refusals: readonly (readonly [string, LossFunction, RegExp])[] = [
      ["throws", () => throwing("boom"), /threw Error: boom/],
      ["throws no error", () => throwing(undefined), /threw undefined/],
      ["returns a promise", (async () => throwing("late")) as never, /returned a promise; it must return a tensor/],
      ["returns a number", () => 1 as never, /returned number 1; it must return a tensor/],
      ["returns a matrix", (_, outputs) => outputs, /shape \[2,3\]; it must be a scalar .* \[2\]/],
      ["returns strings", () => tf.tensor1d(["a", "b"]), /tensor of string/],
      ["returns a disposed tensor", (_, outputs) => disposed(tf.mean(outputs)), /disposed/],
    ];

    it.each(refusals)("refuses a loss or metric that %s, in training and in validation", async (_, own, message) => {
      const batch = randomBatch(mlp, 2);
      for (const extra of [{ loss: own }, { metrics: { mine: own } }]) {
        const model = await create(moduleOf(dense, extra));
        expect(() => model.evaluate(batch)).toThrow(userCode(message));
        expect(() => gradientOf(model, batch)).toThrow(userCode(message));
      }
    });

    it.each<[string, LossFunction, RegExp]>([
      ["is of integers", (labels) => tf.sum(labels), /int32; it must be float32/],
      [
        "takes a Fourier transform",
        (_, outputs) => tf.mean(tf.abs(tf.fft(tf.complex(outputs, tf.zerosLike(outputs))))),
        /(?:Complex|FFT).* a Fourier transform such as tf.fft has no gradient/,
      ],
      ["does not depend on the outputs", () => tf.scalar(1), /the loss has no gradient/],
      ["only compares", (_, outputs) => tf.mean(tf.cast(tf.greater(outputs, 0.5), "float32")), /comparisons, argMax/],
    ])("refuses to train on a loss that %s", async (_, loss, message) => {
      const model = await create(moduleOf(dense, { loss }));
      expect(() => gradientOf(model, randomBatch(mlp, 2))).toThrow(userCode(message));
    });

    it("reports a model that depends on a changing state, and none that draws", async () => {
      const onChangingModel = jest.fn();
      const { createModel } = await createEngine({ preferred: engine().backend, threads: 1, onChangingModel });
      let calls = 0;
      const counting: LossFunction = (_, outputs) => tf.mul(tf.mean(tf.square(outputs)), Math.min(1, ++calls / 40));
      const drawing: LossFunction = (_, outputs) => tf.mul(tf.mean(tf.square(outputs)), Math.random());
      for (const [loss, reports] of [
        [drawing, 0],
        [counting, 1],
      ] as const) {
        const model = await createModel(moduleOf(dense, { loss }), 1);
        created.push(model);
        for (const _ of ["first", "second"]) gradientOf(model, randomBatch(mlp, 2));
        expect(onChangingModel).toHaveBeenCalledTimes(reports);
      }
    });

    it("reports functions that leave tensors behind in each call, and none that keeps one", async () => {
      const onKeptTensors = jest.fn();
      const { createModel } = await createEngine({ preferred: engine().backend, threads: 1, onKeptTensors });
      const kept: tf.Tensor[] = [];
      const keep = (tensor: tf.Tensor): tf.Tensor => {
        kept.push(tf.keep(tensor));
        return tensor;
      };
      let factor: tf.Tensor | undefined;
      const once: LossFunction = (_, outputs) => {
        factor ??= keep(tf.scalar(2));
        return tf.mul(tf.mean(tf.square(outputs)), factor);
      };
      const always: LossFunction = (_, outputs) => tf.mean(keep(tf.square(outputs)));
      for (const [extra, reported] of [
        [{ loss: once, metrics: { mine: once } }, []],
        [{ loss: always, metrics: { mine: once } }, [[["loss()"]]]],
        [{ loss: once, metrics: { mine: once, other: always } }, [[["metric 'other'"]]]],
      ] as const) {
        const model = await createModel(moduleOf(dense, { ...extra, graph: false }), 1); // a graph keeps none
        created.push(model);
        for (const _ of ["first", "second"]) gradientOf(model, randomBatch(mlp, 2));
        expect(onKeptTensors.mock.calls).toEqual(reported);
        onKeptTensors.mockClear();
      }
      tf.dispose(kept);
    });

    it("names the embedding whose table an id is not in, and the remedy", async () => {
      const model = await create(embedding);
      const outside = { ...randomBatch(mlp, 1), inputs: Float32Array.of(1, -1) };
      const message =
        /the layer 'embedding_Embedding1' threw .*-1 is not in \[0, [45].*enlarge inputDim.*standardize: false/s;
      expect(() => gradientOf(model, outside)).toThrow(userCode(message));
    });

    it("names the operation without a gradient, and its place", async () => {
      const model = await create(moduleOf(dense, { loss: (_, outputs) => flipped(outputs) }));
      const thrown = errorOf(() => gradientOf(model, randomBatch(mlp, 2)));
      expect(thrown.message).toMatch(
        /gradient function not found for FlipLeftRight.*operation FlipLeftRight has no gradient: compute .*metric may use it/,
      );
      expect((thrown.cause as Error).stack).toMatch(/at flipped.*module-contract/);
    });

    it.each<[string, LossFunction | undefined, RegExp]>([
      ["in a layer", undefined, /the layer 'dense_Dense1', by the operation/],
      ["in the loss", (_, outputs) => tf.mean(tf.log(tf.sub(outputs, 1e6))), /the loss, by the operation Log\./],
      ["in gradients", (_, outputs) => tf.mean(tf.sqrt(tf.mul(outputs, 0))), /the backward pass, by the operation/],
    ])("explains a first value %s that is not finite", async (_, loss, message) => {
      const model = await create(moduleOf(dense, loss && { loss }));
      if (loss === undefined) model.writeWeights(new Float32Array(model.parameterCount).fill(Number.NaN));
      const { numTensors } = tf.memory();
      const found = model.explainNonFinite?.(randomBatch(mlp, 2), "k");
      expect(found?.description).toMatch(message);
      expect(tf.memory().numTensors).toBe(numTensors);
      const finite = await create(moduleOf(dense));
      expect(finite.explainNonFinite?.(randomBatch(mlp, 2), "k")).toBeUndefined();
    });
  });
}

/** Applies layers to rows of six numbers in another shape. */
const reshaped = (targetShape: number[], build: (layers: TensorFlow["layers"]) => readonly Layer[] = () => []) =>
  stack((layers, { outputs }) => [
    layers.reshape({ targetShape, inputShape: [6] }),
    ...build(layers),
    layers.flatten(),
    layers.dense({ units: outputs }),
  ]);

/** Checks of users' models before they are trained. They run no kernels, so one backend is enough. */
export function describeModelChecks(start: () => Promise<Engine>): void {
  describe("checks of a module's model", () => {
    const { engine, create } = modelsOf(start);
    const constrained = ({ tf: { sequential, layers } }: Pick<ModelContext, "tf">): LayersModel =>
      sequential({ layers: [layers.dense({ units: 3, inputShape: [6], kernelConstraint: "nonNeg" })] });

    it.each<[string, (context: ModelContext) => unknown, RegExp]>([
      ["throws", () => throwing("boom"), /model\(\) threw Error: boom/],
      [
        "has a function as activation",
        stack((each) => [each.dense({ units: 3, inputShape: [6], activation: tf.relu as never })]),
        /Improper config format.*Give a name, such as 'relu'.*cannot hold functions/s,
      ],
      ["returns a promise", async () => undefined, /synchronously/],
      ["returns something else", () => 3, /returned number 3, not a tf.LayersModel/],
      ["takes other rows", stack((each) => [each.dense({ units: 3, inputShape: [5] })]), /rows of shape \[5\].*\[6\]/],
      [
        "gives others",
        stack((each) => [each.dense({ units: 2, inputShape: [6] })]),
        /gives rows of shape \[2\].*\[3\]/,
      ],
      [
        "has no weights",
        stack((each) => [each.reshape({ targetShape: [2, 3], inputShape: [6] }), each.globalAveragePooling1d({})]),
        /no trainable weights/,
      ],
      [
        "pools over more than a row has",
        reshaped([2, 3, 1], (each) => [each.maxPooling2d({ poolSize: 4 })]),
        /layer 'max_pooling2d_.*' makes rows of shape \[0,0,1\] from \[2,3,1\].*smaller poolSize/,
      ],
      [
        "reshapes to another number of values",
        reshaped([4, 2]),
        /layer 'reshape_.*' cannot make rows of shape \[4,2\] from \[6\], which have 6 values.*targetShape/,
      ],
      [
        "has a softmax along an axis before the last",
        reshaped([3, 2], (each) => [each.softmax({ name: "shares" })]),
        /layer 'shares' has axis 1 .*along the last axis only.*axis: -1.*permute/,
      ],
      [
        "drops everything",
        stack((each, { outputs }) => [
          each.dropout({ rate: 1.5, name: "all", inputShape: [6] }),
          each.dense({ units: outputs }),
        ]),
        /The layer 'all' has rate 1 or more, but it must be below 1/,
      ],
      [
        "disposed of its weights",
        ({ tf: { sequential, layers } }) => {
          const model = sequential({ layers: [layers.dense({ units: 3, inputShape: [6] })] });
          model.layers[0]?.dispose();
          return model;
        },
        /weight 'dense_.*kernel' is disposed/,
      ],
      ["was not given its input's shape", stack((each) => [each.dense({ units: 3 })]), /inputShape/],
      [
        "has two outputs",
        ({ tf: { input, model, layers } }) => {
          const rows = input({ shape: [6] });
          const outputs = [3, 2].map((units) => layers.dense({ units }).apply(rows) as SymbolicTensor);
          return model({ inputs: rows, outputs });
        },
        /1 inputs and 2 outputs; it must have one of each\.$/,
      ],
      [
        "gives shares",
        stack((own) => [own.dense({ units: 3, inputShape: [6], activation: "softmax" })]),
        /return logits/,
      ],
      [
        "contains a model that ends in softmax",
        stack((each, { tf: { sequential } }) => [
          sequential({ layers: [each.dense({ units: 3, inputShape: [6] }), each.softmax({})] }),
        ]),
        /return logits/,
      ],
      [
        "ends in sigmoid",
        stack((each) => [each.dense({ units: 3, inputShape: [6], activation: "sigmoid" })]),
        /ends in sigmoid; return logits.*the loss applies softmax/,
      ],
    ])("refuses a module whose model %s", async (_, factory, message) => {
      const before = tf.memory().numTensors;
      await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(message);
      expect(tf.memory().numTensors).toBe(before);
    });

    it.each<[string, (context: ModelContext) => unknown, RegExp]>([
      [
        "does not compute its outputs from its input",
        ({ tf: { input, model, layers: each } }) => {
          const [inputs, other] = [input({ shape: [6] }), input({ shape: [6], name: "other" })];
          const sum = each.add().apply([inputs, other]) as SymbolicTensor;
          return model({ inputs, outputs: each.dense({ units: 3 }).apply(sum) as SymbolicTensor });
        },
        /model\(\) threw .*obtain value for a tensor at layer "other".*layer 'other', which does not depend on the model's inputs/,
      ],
      [
        "has no outputs",
        ({ tf: { input, model } }) => model({ inputs: input({ shape: [6] }), outputs: undefined as never }),
        /reading 'sourceLayer'\)\. An input or output of tf\.model, .* is undefined: give the result of/,
      ],
      [
        "has a stateful layer",
        stack((each) => [
          each.reshape({ targetShape: [3, 2], batchInputShape: [4, 6] }),
          each.simpleRNN({ units: 3, stateful: true }),
        ]),
        /stateful: its state would depend/,
      ],
      [
        "has a weight that no memory holds",
        stack((each) => [each.dense({ units: 1e12, inputShape: [6], name: "wide" })]),
        /^The layer 'wide' has the weight 'kernel' of shape \[6,1000000000000\], which takes 24000.0 GB .*fewer units/,
      ],
      ["has constraints", constrained, /kernel' has a constraint.*do not apply constraints/],
      ["has constraints inside", ({ tf }) => tf.sequential({ layers: [constrained({ tf })] }), /kernel' has a constr/],
    ])("refuses a model that %s", async (_, factory, message) => {
      await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(message);
    });

    it("names the weight whose initial values take longer than the limit", async () => {
      const { ms } = timeLimit;
      timeLimit.ms = 50;
      const factory = stack((each) => [each.dense({ units: 5e5, inputShape: [6], name: "wide" })]);
      try {
        await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(
          /layer 'wide' has the weight 'kernel' of shape \[6,500000\].*did not return within 0.05 s/,
        );
      } finally {
        timeLimit.ms = ms;
      }
    });

    it("refuses a model that is being trained", async () => {
      let training: Promise<unknown> | undefined;
      const fitted = (context: ModelContext): LayersModel => {
        const model = dense(context);
        model.compile({ optimizer: "sgd", loss: "meanSquaredError" });
        training = model.fit(tf.zeros([4, 6]), tf.zeros([4, 3]), { epochs: 1 });
        return model;
      };
      for (const factory of [fitted, (context: ModelContext) => context.tf.sequential({ layers: [fitted(context)] })]) {
        await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(
          /model\(\) started fit\(\), .*Remove the call.*fineTune/,
        );
        await training;
      }
    });

    it("refuses a sigmoid at the end of a binary task, but not of a regression", async () => {
      const factory = stack((each) => [
        each.dense({ units: 1, inputShape: [6] }),
        each.activation({ activation: "sigmoid" }),
      ]);
      const created = engine().createModel(moduleOf(factory, { outputs: 1, task: "binary" }), 1);
      await expect(created).rejects.toThrow(/ends in sigmoid; return logits.*the loss applies it/);
      await create(moduleOf(factory, { outputs: 1, task: "regression" }));
    });

    it("refuses two layers of one name, and says what to do", async () => {
      const name = "features";
      const sequential = stack((builtIn, { outputs }) => [
        builtIn.dense({ name, units: 3, inputShape: [6] }),
        builtIn.dense({ name, units: outputs }),
      ]);
      const functional = ({ tf: { input, model, layers: builtIn }, outputs }: ModelContext) => {
        const inputs = input({ shape: [6] });
        const between = builtIn.dense({ name, units: 3 }).apply(inputs) as SymbolicTensor;
        return model({ inputs, outputs: builtIn.dense({ name, units: outputs }).apply(between) as SymbolicTensor });
      };
      const nested = (context: ModelContext) => context.tf.sequential({ layers: [sequential(context)] });
      for (const factory of [sequential, functional, nested]) {
        await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(
          /^Two layers of the model have the name 'features'.*give each a name of its own, or leave name out\.$/,
        );
      }
    });

    it("refuses a layer that only user code can rebuild", async () => {
      class Doubling extends layers.Layer {
        static readonly className = "Doubling";
        override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
          return tf.mul((Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor, 2);
        }
        override computeOutputShape(shape: unknown): never {
          return shape as never;
        }
      }
      tf.serialization.registerClass(Doubling as never);
      const factory = stack((builtIn, { outputs }) => [
        builtIn.dense({ units: outputs, inputShape: [6] }),
        new Doubling({}),
      ]);
      await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(/class 'Doubling'.*without user code/);
    });

    it.each<[string, (dense: Layer) => Layer, RegExp]>([
      [
        "of a class of its own with the name of a built-in one",
        (dense) => {
          const { constructor: Dense } = dense as unknown as { constructor: new (options: object) => Layer };
          return new (class extends Dense {})({ units: 3, inputShape: [6] });
        },
        /layer 'dense_.*' is of a class of its own that extends 'Dense'; .*without user code/,
      ],
      [
        "with a function of its own",
        (dense) => {
          const call = dense.call.bind(dense);
          dense.call = (...given) => tf.mul(call(...given) as tf.Tensor, 2);
          return dense;
        },
        /function 'call' of the layer 'dense_.*' was replaced; .*without user code/,
      ],
      [
        "with an activation that has a function of its own",
        (dense) => {
          (dense as Layer & { activation: { apply: unknown } }).activation.apply = (x: tf.Tensor) => tf.mul(x, 2);
          return dense;
        },
        /function 'apply' of the activation of the layer 'dense_.*' was replaced; .*without user code/,
      ],
      [
        "with an activation of a class of its own",
        (dense) => {
          const { activation } = dense as Layer & { activation: object };
          const Linear = activation.constructor as new () => object;
          return Object.assign(dense, { activation: new (class extends Linear {})() });
        },
        /activation of the layer 'dense_.*' is of a class of its own that extends 'linear'; .*without user code/,
      ],
    ])("refuses a layer %s, also inside of others", async (_, change, message) => {
      const factories = [
        stack((each) => [change(each.dense({ units: 3, inputShape: [6] }))]),
        reshaped([2, 3], (each) => [each.timeDistributed({ layer: change(each.dense({ units: 3 })) })]),
      ];
      for (const factory of factories)
        await expect(engine().createModel(moduleOf(factory), 1)).rejects.toThrow(message);
    });
  });
}

function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

function flipped(outputs: tf.Tensor): tf.Tensor {
  return tf.mean(tf.image.flipLeftRight(tf.reshape(outputs, [1, 1, -1, 1]) as tf.Tensor4D));
}

/** Returns a loss that creates a tensor in its first call only. */
function cached(): LossFunction {
  let factor: tf.Tensor | undefined;
  return (_, outputs) => {
    factor ??= tf.scalar(2);
    return tf.mul(tf.mean(tf.square(outputs)), factor);
  };
}

const throwing = (value: unknown): never => {
  throw typeof value === "string" ? new Error(value) : value;
};

function disposed(tensor: tf.Tensor): tf.Tensor {
  tensor.dispose();
  return tensor;
}

/** A ModelError, which ends the run as USER_CODE. */
const userCode = (message: RegExp) =>
  expect.objectContaining({ code: "INVALID_MODEL", message: expect.stringMatching(message) });
