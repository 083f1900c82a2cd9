import { sha256 } from "../../../core/digest";
import { encodeSafetensors } from "../../../core/safetensors";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import type { ModelLayer, TrainableModel } from "../../../trainer-container/engine/engine";
import { loadInitialWeights, matchLayers } from "../../../trainer-container/host/initial-weights";
import { modelsOf, moduleOf, weightsOf } from "../engine/models-of";

const definition = (outputs: number, frozen = false) =>
  moduleOf(
    ({ tf }) => {
      const base = tf.sequential({
        layers: [
          tf.layers.dense({ units: 5, inputShape: [4], trainable: !frozen }),
          tf.layers.batchNormalization({ trainable: !frozen }),
        ],
      });
      return tf.sequential({ layers: [base, tf.layers.dense({ units: outputs })] });
    },
    { inputShape: [4], outputs },
  );

/** A store of the model's weights, cut into one object a weight. */
function storeOf(model: TrainableModel) {
  const weights = weightsOf(model);
  const objects = new Map<string, Uint8Array>();
  const parts = model.layout.map(({ name, shape, offset, size }, index) => {
    const data = weights.slice(offset, offset + size);
    const bytes = encodeSafetensors({ tensors: { [name]: { dtype: "F32", shape: [...shape], data } } });
    const digest = sha256(`part ${index}`);
    objects.set(digest, bytes);
    return { sha256: digest, bytes: bytes.length };
  });
  objects.set("list", new TextEncoder().encode(JSON.stringify(parts)));
  return { getContent: async (sha256: string) => objects.get(sha256)! };
}

const namedWeights = (model: TrainableModel): Readonly<Record<string, Float32Array>> => {
  const weights = weightsOf(model);
  return Object.fromEntries(
    model.layout.map(({ name, offset, size }) => [name, weights.slice(offset, offset + size)] as const),
  );
};

describe("the initial weights of a fine-tuned training", () => {
  const models = modelsOf(() => createEngine({ preferred: "wasm", threads: 1 }));
  const create = (seed: number, ...args: Parameters<typeof definition>) => models.create(definition(...args), seed);
  const task = (match: "strict" | "prefix") => ({ fineTune: { match, from: "run-a", parts: "list" } });

  it("are those of the source, layer by layer, for frozen layers of a nested model too", async () => {
    const source = await create(1, 3);
    const model = await create(2, 3, true);
    expect(model.layers.map(({ name }) => name)).toEqual(source.layers.map(({ name }) => name));
    expect(model.layout.map(({ name }) => name)).not.toEqual(source.layout.map(({ name }) => name));
    const outcome = await loadInitialWeights(model, task("strict"), storeOf(source));
    expect(namedWeights(model)).toEqual(namedWeights(source));
    expect(outcome).toMatchObject({ loaded: { layers: 3, weights: 63 }, initialised: { layers: 0, weights: 0 } });
  });

  it("are random from the first layer on that differs, with prefix", async () => {
    const source = await create(1, 3);
    const model = await create(2, 7, true);
    const before = namedWeights(model);
    const head = model.layers.at(-1)!.slots.map(({ name }) => name);
    const outcome = await loadInitialWeights(model, task("prefix"), storeOf(source));
    expect(outcome).toMatchObject({ loaded: { layers: 2, weights: 45 }, initialised: { layers: 1, weights: 42 } });
    for (const [name, values] of Object.entries(namedWeights(model))) {
      expect(values).toEqual(head.includes(name) ? before[name] : namedWeights(source)[name]);
    }
  });

  it("are refused with every difference, with strict", async () => {
    const source = await create(1, 3);
    const model = await create(2, 7);
    await expect(loadInitialWeights(model, task("strict"), storeOf(source))).rejects.toMatchObject({
      code: "FINE_TUNE_MISMATCH",
      message: expect.stringMatching(
        /not those of run-a: layer .*kernel has shape \[5,7\] here and \[5,3\] in the source/,
      ),
    });
  });

  it("stay random without a source", async () => {
    const model = await create(1, 3);
    expect(await loadInitialWeights(model, {}, storeOf(model))).toBeUndefined();
  });
});

let offset = 0;
const layer = (name: string, ...shapes: readonly (readonly number[])[]): ModelLayer => ({
  name,
  slots: shapes.map((shape, index) => {
    const size = shape.reduce((product, side) => product * side, 1);
    offset += size;
    return { name: `${name}/w${index}`, shape, size, offset: offset - size, trainable: true };
  }),
});
const shapesOf = (layers: readonly ModelLayer[]) =>
  new Map(layers.flatMap(({ slots }) => slots.map(({ name, shape }) => [name, shape] as const)));

const base = [layer("a", [4, 8], [8]), layer("b", [8, 8], [8])];
const source = shapesOf([...base, layer("head", [8, 10], [10])]);

describe("matching layers with a source of weights", () => {
  it("reports every difference if it is strict, and weights that only the source has", () => {
    const model = [base[0]!, layer("c", [8, 8], [8])];
    expect(matchLayers(model, source, "strict").differences).toEqual([
      "layer c: the source has no c/w0, c/w1",
      "only the source has b/w0, b/w1, head/w0, head/w1",
    ]);
  });

  it("refuses a prefix without a layer, and says where the rest begins", () => {
    const model = [base[0]!, layer("b", [8, 9], [9]), layer("head", [8, 10], [10])];
    expect(matchLayers(model, source, "prefix").layers).toEqual([
      { layer: "a", size: 40 },
      { layer: "b", size: 81, initialised: "b/w0 has shape [8,9] here and [8,8] in the source" },
      { layer: "head", size: 90, initialised: "after a layer that differs" },
    ]);
    expect(matchLayers([layer("x", [2])], source, "prefix").differences).toEqual(["layer x: the source has no x/w0"]);
  });
});
