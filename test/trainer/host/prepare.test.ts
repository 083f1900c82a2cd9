import type { FeatureManifest, LabelEncoding } from "../../../core/features/shapes";
import type { Logger } from "../../../core/logging";
import type { TrainingTask } from "../../../core/runs/training-task";
import { classWeightsOf, modelDefinition } from "../../../trainer-container/host/prepare";
import { executionReport } from "../../../trainer-container/host/prepare-training";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { taskOf } from "../loop/in-process";

const label: LabelEncoding = { kind: "class", column: "fraud", classes: [false, true] };
const task = (classWeights?: TrainingTask["hyperparameters"]["classWeights"], profileKey?: string): TrainingTask =>
  taskOf(profileKey === undefined ? {} : { profileKey }, classWeights === undefined ? {} : { classWeights });

describe("class weights of a task", () => {
  const store = createMemoryObjectStore();
  const weightsOf = (of: TrainingTask, encoding: LabelEncoding = label) => classWeightsOf(of, encoding, store);

  it("are in the order of the classes; a class without an entry has 1", async () => {
    expect(await weightsOf(task())).toBeUndefined();
    expect(await weightsOf(task({ true: 5 }))).toEqual([1, 5]);
    expect(await weightsOf(task({ 7: 2, 3: 4 }), { ...label, classes: [3, 7] })).toEqual([4, 2]);
  });

  it("are rows / (classes × rows of the class) if balanced, by the training rows of the profile", async () => {
    const rows = (train: number) => ({ train, validation: 100, test: 100 });
    const classes = [
      { value: true, rows: rows(10) },
      { value: false, rows: rows(30) },
      { value: "unseen", rows: rows(0) },
    ];
    const dataset = { name: "d", version: 1, digest: "d".repeat(64) };
    const statistics = { dataset, rowCount: 40, exact: true, columns: [], duplicateShare: 0, leakedShare: 0 };
    await store.put("profile", JSON.stringify({ ...statistics, classes }));
    expect(await weightsOf(task("balanced", "profile"))).toEqual([40 / 60, 2]);
    const withUnseen = { ...label, classes: [true, "unseen", false] };
    expect(await weightsOf(task("balanced", "profile"), withUnseen)).toEqual([2, 1, 40 / 60]);
  });

  it("are refused for a class or a label that does not exist", async () => {
    await expect(weightsOf(task({ yes: 2 }))).rejects.toThrow(
      "hyperparameters.classWeights has weights of yes, which fraud does not contain; its classes are false, true",
    );
    await expect(weightsOf(task({ yes: 2 }), { kind: "value", column: "price" })).rejects.toThrow(
      "hyperparameters.classWeights must be left out: the label price has no classes",
    );
  });
});

it("a decision between classes that the label does not have ends the run before its first step", async () => {
  const features = { label } as unknown as FeatureManifest;
  const decision = { positive: "maybe", threshold: "f1" } as const;
  await expect(modelDefinition(taskOf({ decision }), features, createMemoryObjectStore())).rejects.toMatchObject({
    code: "BAD_TASK",
    message: "evaluation.positive must be one of the classes of fraud: false, true",
  });
});

describe("the report of how a model is computed", () => {
  const lines: unknown[] = [];
  const logger: Logger = { log: (...line) => void lines.push(line), with: () => logger };
  beforeEach(() => {
    lines.length = 0;
  });

  it("warns of gradients without a graph, with the line", () => {
    const { warnings, onExecution } = executionReport(logger);
    const reason = new Error("it reads a value in the middle");
    reason.stack = `Error: ${reason.message}\n    at loss (/ringmaster-module/model.ts:12:9)`;
    for (const pass of ["gradients", "evaluation"] as const) onExecution({ pass, engine: "tape", reason });
    expect(warnings).toEqual([
      {
        code: "MODEL_WITHOUT_GRAPH",
        message: expect.stringMatching(
          /^gradients were computed operation by operation, .*because .*: it reads a value in the middle/,
        ),
      },
    ]);
    expect(lines).toHaveLength(2);
  });

  it("warns of a model that depends on a changing state", () => {
    const { warnings, onChangingModel } = executionReport(logger);
    onChangingModel();
    expect(warnings).toEqual([{ code: "MODEL_CHANGES", message: expect.stringMatching(/the number of workers/) }]);
    expect(lines).toHaveLength(1);
  });

  it("warns of functions that leave tensors behind", () => {
    const { warnings, onKeptTensors } = executionReport(logger);
    onKeptTensors(["loss()", "metric 'mine'"]);
    const message = expect.stringMatching(
      /each call of loss\(\), metric 'mine', .*memory of each worker grows.*remove tf\.keep/,
    );
    expect(warnings).toEqual([{ code: "TENSORS_KEPT", message }]);
    expect(lines).toEqual([["warn", message]]);
  });

  it("warns neither of a graph nor of a module that declines one", () => {
    const { warnings, onExecution } = executionReport(logger);
    onExecution({ pass: "gradients", engine: "graph", operations: 3, ms: 1 });
    const reason = new Error("graph is false in defineTraining");
    onExecution({ pass: "gradients", engine: "tape", reason, declined: true });
    expect(warnings).toEqual([]);
    expect(lines).toEqual([
      ["info", "computing gradients as one graph", { operations: 3, ms: 1 }],
      ["warn", expect.any(String), expect.any(Object)],
    ]);
  });
});
