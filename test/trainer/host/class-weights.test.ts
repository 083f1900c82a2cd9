import type { FeatureManifest, LabelEncoding } from "../../../core/features/shapes";
import type { TrainingTask } from "../../../core/runs/training-task";
import { classWeightsOf, modelDefinition } from "../../../trainer-container/host/prepare";
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
