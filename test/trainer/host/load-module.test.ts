import { Tensor } from "@tensorflow/tfjs-core";
import { evaluateModule, loadTrainingModule } from "../../../trainer-container/host/load-module";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";

const training = '{ model: () => "built", metrics: {} }';

describe("user modules", () => {
  it.each([
    `module.exports = { default: ${training} };`,
    `exports.default = ${training};`,
    `exports.training = ${training};`,
    `module.exports = ${training};`,
  ])("export their training: %s", (source) => {
    expect(evaluateModule(source, "model.ts").model({} as never)).toBe("built");
  });

  it("get this process's own TensorFlow.js", () => {
    const source = 'exports.default = { model: () => require("@tensorflow/tfjs-core").Tensor };';
    expect(evaluateModule(source, "model.ts").model({} as never)).toBe(Tensor);
  });

  it("come from the store, by digest", async () => {
    const store = createMemoryObjectStore();
    const { sha256 } = await store.putContent(`exports.default = ${training};`);
    expect((await loadTrainingModule(store, sha256, "model.ts")).metrics).toEqual({});
  });

  it.each([
    { name: "do not parse", source: "export default {", message: "failed to load" },
    { name: "throw", source: 'throw new Error("on purpose");', message: "on purpose" },
    { name: "export something else", source: "module.exports = 42;", message: "exports no training" },
    { name: "export nothing", source: "", message: "defineTraining" },
    {
      name: "want a package that is not there",
      source: 'require("left-pad-of-dreams");',
      message: "left-pad-of-dreams",
    },
  ])("that $name are the user's failure", ({ source, message }) => {
    expect(() => evaluateModule(source, "model.ts")).toThrow(
      expect.objectContaining({ code: "USER_CODE", message: expect.stringContaining(message) }),
    );
  });

  it("name their own file in stack traces", () => {
    const source = '\n\nexports.default = { model() { throw new Error("deep"); } };';
    try {
      evaluateModule(source, "models/mine.ts").model({} as never);
    } catch (error) {
      expect((error as Error).stack).toMatch(/models\/mine\.ts:3/);
    }
    expect.assertions(1);
  });
});
