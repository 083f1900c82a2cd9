import { EventEmitter } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Tensor } from "@tensorflow/tfjs-core";
import { bundleModule } from "../../../cli/submission";
import type { Task } from "../../../core/runs/model-definition";
import { ModelError } from "../../../trainer-container/engine/errors";
import { classifyError } from "../../../trainer-container/host/failure";
import { evaluateModule, loadTrainingModule, requireFreeNames } from "../../../trainer-container/host/load-module";
import { refuseModuleExit, uncaughtException } from "../../../trainer-container/host/loop-watch";
import { mapStacks, userFrame } from "../../../trainer-container/host/module-source";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { temporaryFolder } from "../../support/temporary-folder";

const directory = temporaryFolder("ringmaster-module");
const training = '{ model: () => "built", metrics: {} }';

describe("user modules", () => {
  it.each([
    `module.exports = { default: ${training} };`,
    `exports.default = ${training};`,
    `exports.training = ${training};`,
    `module.exports = ${training};`,
    `Object.assign(exports, ${training}, { helper: 3 });`,
  ])("export their training: %s", (source) => {
    expect(evaluateModule(source, "model.ts").model({} as never)).toBe("built");
  });

  it("are warned of if their training has the name training and is not the default export", () => {
    const warn = jest.fn();
    for (const source of [`exports.default = ${training}; exports.training = 3;`, `module.exports = ${training};`])
      evaluateModule(source, "model.ts", warn);
    expect(warn).not.toHaveBeenCalled();
    evaluateModule(`exports.training = ${training};`, "model.ts", warn);
    expect(warn).toHaveBeenCalledWith(
      "NAMED_EXPORT",
      expect.stringMatching(/model\.ts .* write `export default defineTr/),
    );
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
    ["do not parse", "export default {", "failed to load"],
    ["throw", 'throw new Error("on purpose");', "on purpose"],
    ["export something else", "module.exports = 42;", "exports no training"],
    ["export nothing", "", "defineTraining"],
    ["want a package that is not there", 'require("left-pad-of-dreams");', "left-pad-of-dreams"],
    ["export no function as loss", "exports.default = { model() {}, loss: 3 };", "number 3 as loss; it must be"],
    [
      "export a metric that is no function",
      "exports.default = { model() {}, metrics: { mine: null } };",
      "null as metrics.mine; it must be a function",
    ],
    [
      "name a metric as no run can record it",
      'exports.default = { model() {}, metrics: { ["m".repeat(240)]: () => {} } };',
      "a name has 1–239 characters and no control characters",
    ],
    [
      "give a field that a training does not have",
      "exports.default = { model() {}, losses() {} };",
      "the field 'losses'; its fields are model, loss, metrics, graph, rematerialise",
    ],
  ])("that %s are the user's failure", (_, source, message) => {
    expect(() => evaluateModule(source, "model.ts")).toThrow(
      expect.objectContaining({ code: "USER_CODE", message: expect.stringContaining(message) }),
    );
  });

  it.each(["loss", "learning-rate", "accuracy"])("must not name a metric as the run's own: %s", (metric) => {
    const given = { model: () => undefined as never, metrics: { [metric]: () => undefined as never } };
    const check = (task: Task) => () => requireFreeNames(given, task, "model.ts");
    expect(check("binary")).toThrow(`the metric '${metric}', which the run tracks itself as train/${metric}`);
    if (metric === "accuracy") expect(check("regression")).not.toThrow();
    else expect(check("regression")).toThrow("rename the metric");
  });

  it("are mapped to the user's own lines, through what they import", async () => {
    await mkdir(path.join(directory, "lib"));
    const lines = ["// a comment", "export const fail = (): never => {", '  throw new Error("deep");', "};"];
    await writeFile(path.join(directory, "lib/fail.ts"), lines.join("\n"));
    const entry = 'import { fail } from "./lib/fail";\n\nexport default { model: () => fail() };';
    await writeFile(path.join(directory, "mine.ts"), entry);
    const error = thrownBy(await bundled(path.join(directory, "mine.ts")), "models (new)/mine.ts");
    expect(userFrame(new Error("above", { cause: error }))).toBe("models (new)/lib/fail.ts:3:9");
    mapStacks(error);
    expect(error.stack).toMatch(/models \(new\)\/lib\/fail\.ts:3:9[\s\S]*models \(new\)\/mine\.ts:3:3/);
    expect(classifyError(new ModelError("model() threw", error))).toMatchObject({
      code: "USER_CODE",
      retryable: false,
    });
  });
});

it("a module with await outside of a function is refused at submission, with its line and what to do", async () => {
  const file = path.join(directory, "awaiting.ts");
  await writeFile(file, "const table = await load();\nexport default { model: () => table };");
  await expect(bundled(file)).rejects.toThrow(
    /model\.path is ".*awaiting\.ts:1", but must not use await outside of a function: .*readFileSync.*model\.options$/,
  );
});

describe("exceptions that nothing caught", () => {
  const failureOf = async (error: unknown) => {
    const process = new EventEmitter();
    const uncaught = uncaughtException(process);
    process.emit("uncaughtException", error);
    return classifyError(await uncaught.catch((reason: unknown) => reason));
  };

  it("are the user's failure where they come from a training module", async () => {
    const error = thrownBy('exports.default = { model() { throw new Error("in a timer"); } };', "timer.ts");
    expect(await failureOf(error)).toEqual({
      kind: "failure",
      code: "USER_CODE",
      message: "The training module failed outside of model(), loss and metrics: Error: in a timer (at timer.ts:1:37)",
      retryable: false,
    });
  });

  it("are the trainer's elsewhere", async () => {
    expect(await failureOf(new Error("a bug"))).toMatchObject({ code: "TRAINER_ERROR", retryable: true });
  });
});

it("process.exit ends the process, but not where a training module calls it", () => {
  const codes: unknown[] = [];
  const process = { exit: (code?: unknown) => void codes.push(code) as never };
  refuseModuleExit(process);
  process.exit(3);
  const { model } = evaluateModule("exports.default = { model: (process) => process.exit(4) };", "exit.ts");
  expect(() => model(process as never)).toThrow("process.exit(4) ends the trainer");
  expect(codes).toEqual([3]);
});

function thrownBy(source: string, name: string): Error {
  try {
    evaluateModule(source, name).model({} as never);
  } catch (error) {
    return error as Error;
  }
  throw new Error("the module threw nothing");
}

/** The bundle that a submission makes of a module. */
async function bundled(file: string): Promise<string> {
  let bundle = "";
  await bundleModule(file, {
    missing: async (references) => references.map(({ sha256 }) => sha256),
    put: async (_, source) => {
      if ("bytes" in source) bundle = new TextDecoder().decode(source.bytes);
    },
  });
  return bundle;
}
