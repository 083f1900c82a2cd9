import type { ModelLayer } from "../../../trainer-container/engine/engine";
import { matchLayers } from "../../../trainer-container/host/initial-weights";

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
  it("loads every layer where names and shapes are equal", () => {
    const model = [...base, layer("head", [8, 10], [10])];
    for (const match of ["strict", "prefix"] as const) {
      const { layers, loaded, differences } = matchLayers(model, source, match);
      expect(layers).toEqual([
        { layer: "a", size: 40 },
        { layer: "b", size: 72 },
        { layer: "head", size: 90 },
      ]);
      expect(loaded).toEqual(model.flatMap(({ slots }) => slots));
      expect(differences).toEqual([]);
    }
  });

  it("loads a prefix: the layers before the first one that differs", () => {
    const model = [base[0]!, layer("b", [8, 9], [9]), layer("head", [8, 10], [10])];
    const { layers, loaded, differences } = matchLayers(model, source, "prefix");
    expect(layers).toEqual([
      { layer: "a", size: 40 },
      { layer: "b", size: 81, initialised: "b/w0 has shape [8,9] here and [8,8] in the source" },
      { layer: "head", size: 90, initialised: "after a layer that differs" },
    ]);
    expect(loaded.map(({ name }) => name)).toEqual(["a/w0", "a/w1"]);
    expect(differences).toEqual([]);
  });

  it("reports every difference if it is strict, and weights that only the source has", () => {
    const model = [base[0]!, layer("c", [8, 8], [8])];
    expect(matchLayers(model, source, "strict").differences).toEqual([
      "layer c: the source has no c/w0, c/w1",
      "only the source has b/w0, b/w1, head/w0, head/w1",
    ]);
  });

  it("refuses a prefix without a layer", () => {
    expect(matchLayers([layer("x", [2])], source, "prefix").differences).toEqual(["layer x: the source has no x/w0"]);
  });
});
