import { parseModelsOptions } from "../../bench/models/options";
import { definitionOf, vocabularyOf } from "../../bench/train/modules";
import { createEngine } from "../../trainer-container/engine/create-engine";

describe("the models of the benchmark", () => {
  const { models } = parseModelsOptions(["--models", "transformer,wide-and-deep"]);

  it.each([
    // 4 layers of 789,760, 256,000 and 32,768 for ids and positions, 512 and 2,570 after the layers
    ["transformer, 4 layers, d = 256, context 128", 3_450_890],
    ["the same with dropout 0.1", 3_450_890],
    // 8 tables of 160,000 and of 20,000, 26 for the numbers, dense layers of 36,352, 32,896 and 258
    ["wide and deep, 8 columns of 10,000 ids", 1_509_532],
  ])("have the layers that their names say: %s", async (label, parameters) => {
    const engine = await createEngine({ preferred: "wasm", threads: 1 });
    const model = await engine.createModel(definitionOf({ model: models[label]!, asModule: true }), 1);
    expect(model.parameterCount).toBe(parameters);
    model.dispose();
  });

  it("take ids in the columns of ids", () => {
    const wide = models["wide and deep, 8 columns of 10,000 ids"]!;
    expect([0, 7, 8, 20].map((column) => vocabularyOf(wide, column))).toEqual([10_000, 10_000, 0, 0]);
  });

  it("are refused by an unknown name", () => {
    expect(() => parseModelsOptions(["--models", "transformers"])).toThrow(/transformers/);
  });
});
