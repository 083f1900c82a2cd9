/** Masks of layers that join inputs: by hand, and through a recurrent layer. */
import * as tf from "@tensorflow/tfjs-core";
import { layers, type SymbolicTensor } from "@tensorflow/tfjs-layers";
import type { ModuleDefinition } from "../../../core/runs/model-definition";
import type { ModelContext } from "../../../trainer-container/engine/define-training";
import type { Engine } from "../../../trainer-container/engine/engine";
import { gradientError, randomBatch } from "./contract";
import { modelsOf, moduleOf } from "./models-of";

type Layers = ModelContext["tf"]["layers"];
type Join = (own: Layers, parts: SymbolicTensor[]) => SymbolicTensor;

/** Two sequences of ids, each in one half of a row, joined before an LSTM. */
const joined = (time: number, join: Join): ModuleDefinition =>
  moduleOf(
    ({ tf: { input, model, layers: own }, outputs }) => {
      const row = input({ shape: [2 * time] });
      const parts = [0, time].map((from) => {
        const columns = Array.from({ length: time }, (_, step) => from + step);
        const ids = own.selectFeatures({ columns }).apply(row) as SymbolicTensor;
        return own.embedding({ inputDim: 5, outputDim: 3, maskZero: true }).apply(ids) as SymbolicTensor;
      });
      const last = own.lstm({ units: 3 }).apply(join(own, parts));
      return model({ inputs: row, outputs: own.dense({ units: outputs }).apply(last) as SymbolicTensor });
    },
    { inputShape: [2 * time], outputs: 2 },
  );

const joins = (["add", "average", "maximum", "minimum", "multiply", "concatenate"] as const).map(
  (name) => [name, (own: Layers, parts: SymbolicTensor[]) => own[name]().apply(parts) as SymbolicTensor] as const,
);

const [a, b, c] = [[1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]] as const; // biome-ignore format: a mask each

export function describeMasks(name: string, start: () => Promise<Engine>): void {
  describe(`masks of joined inputs: ${name}`, () => {
    const { create } = modelsOf(start);

    it.each([
      ["all inputs that have one", layers.add(), [a, b, c], [1, 0, 0, 0]],
      ["the masked inputs, if the first is one", layers.multiply(), [b, undefined, c], [1, 1, 0, 0]],
      ["none, if the first input has none", layers.add(), [undefined, a], undefined],
      ["all inputs of a concatenation", layers.concatenate(), [undefined, a, b], [1, 0, 0, 1]],
      ["each part in time", layers.concatenate({ axis: 1 }), [a, b], [1, 0, 1, 1, 1, 1, 0, 1]],
      ["a part in time without one", layers.concatenate({ axis: 1 }), [a, undefined], [1, 0, 1, 1, 1, 1, 1, 1]],
    ])("take the steps of %s (by hand)", (_, layer, given, expected) => {
      const found = tf.tidy(() => {
        const masks = given.map((mask) => (mask ? tf.tensor2d([...mask], [1, 4], "bool") : null)) as tf.Tensor[];
        const parts = masks.map(() => tf.ones([1, 4, 3]));
        const mask = layer.computeMask(parts, masks) as tf.Tensor | null;
        return (mask && { shape: mask.shape, values: [...mask.dataSync()] }) as unknown as tf.TensorContainer;
      });
      expect(found ?? undefined).toEqual(expected && { shape: [1, expected.length], values: expected });
    });

    it.each(joins)("leave out the steps that one of two inputs omits: %s", async (_, join) => {
      const [whole, kept] = [await create(joined(4, join)), await create(joined(2, join))];
      const weights = new Float32Array(whole.parameterCount);
      whole.readWeights(weights);
      kept.writeWeights(weights);
      // The first and the last step are in both masks.
      const logits = whole.predict(Float32Array.of(1, 0, 2, 3, 4, 1, 0, 2), 1);
      const expected = kept.predict(Float32Array.of(1, 3, 4, 2), 1);
      expect(logits.map((value, i) => Math.abs(value - expected[i]!)).every((error) => error < 1e-6)).toBe(true);
    });

    it.each(joins.filter(([name]) => /multiply|concatenate/.test(name)))(
      "have the gradient of the loss: %s",
      async (_, join) => {
        const definition = joined(4, join);
        const batch = randomBatch(definition, 4);
        batch.inputs.forEach((_value, i) => {
          batch.inputs[i] = (i * 7 + 1) % 5;
        });
        expect(gradientError(await create(definition), batch)).toBeLessThan(3e-3);
      },
    );
  });
}
