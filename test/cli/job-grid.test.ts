import { expandSettings } from "../../cli/job-file";
import { jobSchema } from "../../core/runs/job";
import { jobInput } from "../support/fixtures";

const job = jobSchema.parse(jobInput());

describe("settings with several values", () => {
  it("are expanded to their cross product, the last one fastest", () => {
    expect(expandSettings(["lr=1e-3,1e-4", "seed=1..3"], () => job).map(({ settings }) => settings)).toEqual([
      ["hyperparameters.learningRate=0.001", "seed=1"],
      ["hyperparameters.learningRate=0.001", "seed=2"],
      ["hyperparameters.learningRate=0.001", "seed=3"],
      ["hyperparameters.learningRate=0.0001", "seed=1"],
      ["hyperparameters.learningRate=0.0001", "seed=2"],
      ["hyperparameters.learningRate=0.0001", "seed=3"],
    ]);
    expect(expandSettings([], () => job)).toEqual([{ settings: [], swept: [] }]);
  });

  it.each([
    ["model.hidden=[256,128]", ["model.hidden=[256,128]"]],
    ["model.hidden=[8],[16, 8]", ["model.hidden=[8]", "model.hidden=[16,8]"]],
    ["tags={a: b},{a: c}", ['tags={"a":"b"}', 'tags={"a":"c"}']],
    ["notes='a, b',c", ['notes="a, b"', 'notes="c"']],
    ["lr=0.1", ["hyperparameters.learningRate=0.1"]],
    ['notes="a, b"', ['notes="a, b"']],
    ["epochs=3", ["hyperparameters.epochs=3"]],
    ["optimizer=adam,sgd", ['hyperparameters.optimizer="adam"', 'hyperparameters.optimizer="sgd"']],
    ["no-path", ["no-path"]],
  ])("%s has these values", (setting, expected) => {
    expect(expandSettings([setting], () => job).flatMap(({ settings }) => settings)).toEqual(expected);
  });

  it("name the runs of a group, as the options are written", () => {
    const options = ["model.hidden=[8],[16]", "optimizer=adam,sgd", "seed=3"];
    expect(expandSettings(options, () => job).map(({ swept }) => swept.join(" "))).toEqual([
      "model.hidden=[8] optimizer=adam",
      "model.hidden=[8] optimizer=sgd",
      "model.hidden=[16] optimizer=adam",
      "model.hidden=[16] optimizer=sgd",
    ]);
  });

  it.each([
    [["seed=5..1"], "must be a range FIRST..LAST that ascends"],
    [["seed=1..1000", "lr=1,2"], "at most 1000 runs, but the values give 2000"],
  ])("%s is refused", (settings, message) => {
    expect(() => expandSettings(settings, () => job)).toThrow(message);
    expect(() => expandSettings(settings, () => job)).toThrow(/^the settings are not valid: /);
  });
});
