/** Recurrent layers against their definition: the cell's own step, one after the other, on TensorFlow.js's tape. */
import * as tf from "@tensorflow/tfjs-core";
import { type LayersModel, layers, sequential } from "@tensorflow/tfjs-layers";
import type { Engine } from "../../../trainer-container/engine/engine";
import { installRecurrent } from "../../../trainer-container/engine/layers/recurrent";

type Options = Parameters<typeof layers.lstm>[0];
type Kind = "lstm" | "gru" | "simpleRNN";

interface CellOwner {
  readonly cell: { call(inputs: tf.Tensor[], options: { readonly training: boolean }): tf.Tensor[] };
}

/** Computes the layer's outputs with the steps of its cell. */
function bySteps(layer: CellOwner, x: tf.Tensor3D, states: number, { units, goBackwards, returnSequences }: Options) {
  const [rows, time] = x.shape;
  let current = Array.from({ length: states }, () => tf.zeros([rows, units]) as tf.Tensor);
  const outputs: tf.Tensor[] = [];
  const steps = [...tf.unstack(x, 1)]; // the tape holds the list itself
  if (goBackwards) steps.reverse();
  for (let t = 0; t < time; t++) {
    const [output, ...next] = layer.cell.call([steps[t] as tf.Tensor, ...current], { training: true });
    outputs.push(output as tf.Tensor);
    current = next;
  }
  return returnSequences ? tf.stack(outputs, 1) : (outputs.at(-1) as tf.Tensor);
}

/** Kind, options, and rows unless 2. */
const cases: readonly [kind: Kind, options: Options, rows?: number][] = [
  ["lstm", { units: 5 }],
  ["lstm", { units: 5, recurrentActivation: "sigmoid" }],
  ["lstm", { units: 5, recurrentActivation: "sigmoid", returnSequences: true, goBackwards: true }],
  ["lstm", { units: 66, recurrentActivation: "sigmoid", returnSequences: true }],
  ["lstm", { units: 66, recurrentActivation: "sigmoid", returnSequences: true }, 33],
  ["lstm", { units: 66, recurrentActivation: "sigmoid", useBias: false }, 33],
  ["lstm", { units: 3, activation: "relu", useBias: false }],
  ["gru", { units: 5 }],
  ["gru", { units: 5, recurrentActivation: "sigmoid", returnSequences: true }],
  ["gru", { units: 4, activation: "linear", goBackwards: true, useBias: false }],
  ["simpleRNN", { units: 5 }],
  ["simpleRNN", { units: 4, activation: "sigmoid", returnSequences: true, goBackwards: true }],
];

export function describeRecurrentLayers(start: () => Promise<Engine>): void {
  describe("recurrent layers", () => {
    beforeAll(async () => {
      await start();
      installRecurrent();
    });

    it.each(cases)(
      "have the outputs and gradients of single steps: %s %j",
      (kind: Kind, options: Options, rows = 2) => {
        const create = layers[kind] as (given: Options) => ReturnType<typeof layers.lstm>;
        const layer = create(options);
        const model: LayersModel = sequential({ layers: [layers.inputLayer({ inputShape: [4, 3] }), layer] });
        for (const weight of model.weights)
          weight.write(tf.randomUniform(weight.shape as number[], -0.7, 0.7, "float32", 5));
        const x = tf.randomNormal<tf.Rank.R3>([rows, 4, 3], 0, 1, "float32", 3);
        const factors = tf.randomNormal(
          options.returnSequences ? [rows, 4, options.units] : [rows, options.units],
          0,
          2 / rows, // sums over rows stay near 1
          "float32",
          4,
        );
        const variables = model.trainableWeights.map((weight) => weight.read() as tf.Variable);
        const lossOf = (compute: (input: tf.Tensor3D) => tf.Tensor) => {
          const loss = (input: tf.Tensor3D) => tf.sum(tf.mul(compute(input), factors)) as tf.Scalar;
          const { value, grads } = tf.variableGrads(() => loss(x), variables);
          const dx = tf.grad((input) => loss(input as tf.Tensor3D))(x);
          return [value, dx, ...variables.map(({ name }) => grads[name] as tf.Tensor)];
        };
        const found = lossOf((input) => layer.apply(input, { training: true }) as tf.Tensor);
        const expected = lossOf((input) =>
          bySteps(layer as unknown as CellOwner, input, kind === "lstm" ? 2 : 1, options),
        );
        found.forEach((tensor, index) => {
          const difference = tf.max(tf.abs(tf.sub(tensor, expected[index] as tf.Tensor))).dataSync()[0];
          expect(difference).toBeLessThan(1e-5);
        });
        model.dispose();
      },
    );

    it("takes fewer than 65 kernels a step of an LSTM, forward and backward", () => {
      const model = sequential({ layers: [layers.lstm({ units: 65, inputShape: [10, 3] })] });
      const variables = model.trainableWeights.map((weight) => weight.read() as tf.Variable);
      const x = tf.ones([2, 10, 3]);
      const engine = tf.engine();
      const runKernel = jest.spyOn(engine, "runKernel");
      tf.variableGrads(() => tf.sum(model.apply(x, { training: true }) as tf.Tensor) as tf.Scalar, variables);
      expect(runKernel.mock.calls.length).toBeGreaterThan(100);
      expect(runKernel.mock.calls.length).toBeLessThan(650);
      runKernel.mockRestore();
      model.dispose();
    });
  });
}
