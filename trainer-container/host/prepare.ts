/**
 * Turns a task and its features into what the engine and the loop need: the model's definition and the rows' weights.
 */
import { type DatasetProfile, datasetProfile } from "../../core/datasets/profile";
import { decisionProblem } from "../../core/evaluation/decision";
import { builtInDefinition, modelShapeOf } from "../../core/features/encoding";
import type { FeatureManifest, LabelEncoding } from "../../core/features/shapes";
import { getJson } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import { isNarrow } from "../../core/runs/hyperparameters";
import type { ModelDefinition, ModuleDefinition } from "../../core/runs/model-definition";
import { numericsDifferences } from "../../core/runs/numerics";
import type { NumericsRecord } from "../../core/runs/shapes";
import { type TrainingTask, trainingNumerics } from "../../core/runs/training-task";
import type { EngineOptions } from "../engine/engine";
import { TrainingHaltedError } from "../loop/errors";
import { loadTrainingModule, requireFreeNames, type Warn } from "./load-module";

/** @throws TrainingHaltedError `BAD_TASK` if a weight's class is not in the dataset */
export async function classWeightsOf(
  { hyperparameters: { classWeights }, profileKey }: Pick<TrainingTask, "hyperparameters" | "profileKey">,
  label: LabelEncoding,
  store: ObjectStore,
): Promise<readonly number[] | undefined> {
  if (classWeights === undefined) return undefined;
  const field = "hyperparameters.classWeights";
  if (label.kind !== "class") {
    throw new TrainingHaltedError("BAD_TASK", `${field} must be left out: the label ${label.column} has no classes`);
  }
  const classes = label.classes.map(String);
  if (classWeights === "balanced") {
    if (profileKey === undefined) throw new TrainingHaltedError("BAD_TASK", "the task has no key of the profile");
    return balanced(classes, await getJson(store, profileKey, datasetProfile));
  }
  const unknown = Object.keys(classWeights).filter((name) => !classes.includes(name));
  if (unknown.length > 0) {
    throw new TrainingHaltedError(
      "BAD_TASK",
      `${field} has weights of ${unknown.join(", ")}, which ${label.column} does not contain; its classes are ${classes.join(", ")}`,
    );
  }
  return classes.map((name) => classWeights[name] ?? 1);
}

/** rows / (classes × rows of the class), over the classes with training rows; 1 for the others. */
function balanced(classes: readonly string[], profile: DatasetProfile): readonly number[] {
  const rows = new Map(profile.classes?.map(({ value, rows: { train } }) => [String(value), train]));
  const counts = classes.map((name) => rows.get(name) ?? 0);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const present = counts.filter((count) => count > 0).length;
  return counts.map((count) => (count === 0 ? 1 : total / (present * count)));
}

/** Returns the engine options of the task. */
export function engineOptionsOf(task: TrainingTask): EngineOptions {
  const { backend, threads, gpusPerWorker, hyperparameters } = task;
  const { precision = "float32" } = hyperparameters;
  const tf32 = task.tf32 === true || (precision === "tf32" && gpusPerWorker > 0);
  return {
    preferred: backend,
    threads,
    ...(gpusPerWorker > 0 ? { gpu: 0 } : {}),
    ...(tf32 ? { tf32 } : {}),
    ...(isNarrow(precision) ? { precision } : {}),
  };
}

/** Returns the task's model. Loads the user's module if there is one. @param warn called with what its user should change */
export async function modelDefinition(
  task: TrainingTask,
  features: FeatureManifest,
  store: ObjectStore,
  warn?: Warn,
): Promise<ModelDefinition> {
  const { model } = task;
  const problem = decisionProblem(task.decision ?? {}, features.label);
  if (problem) throw new TrainingHaltedError("BAD_TASK", `evaluation.${problem.field} ${problem.rule}`);
  const weights = await classWeightsOf(task, features.label, store);
  const weighted = weights === undefined ? {} : { classWeights: weights };
  if (model.type === "container") throw new TrainingHaltedError("BAD_TASK", "a container has no model of the engine");
  if (model.type !== "module") return { ...builtInDefinition(model, features), ...weighted };
  if (model.sha256 === undefined) {
    throw new TrainingHaltedError(
      "BAD_TASK",
      `the module ${model.path} was not uploaded: the task has no sha256 of it`,
    );
  }
  const training = await loadTrainingModule(store, model.sha256, model.path, warn);
  const shape = modelShapeOf(features);
  requireFreeNames(training, shape.task, model.path);
  const definition: ModuleDefinition = {
    type: "module",
    ...shape,
    ...weighted,
    factory: training.model as ModuleDefinition["factory"],
    ...(training.loss === undefined ? {} : { loss: training.loss as ModuleDefinition["loss"] }),
    ...(training.metrics === undefined ? {} : { metrics: training.metrics as ModuleDefinition["metrics"] }),
    ...(training.graph === undefined ? {} : { graph: training.graph }),
    ...(training.rematerialise === undefined ? {} : { rematerialise: training.rematerialise }),
    hyperparameters: { ...task.hyperparameters, ...model.options },
  };
  return definition;
}

/**
 * Checks this worker's numerics against the run's, which are the first worker's.
 * @returns the fields that differ although the task allows it
 * @throws TrainingHaltedError `NUMERICS_DIFFER`
 */
export async function agreeOnNumerics(
  store: ObjectStore,
  task: TrainingTask,
  mine: NumericsRecord,
): Promise<readonly string[]> {
  const key = objectKeys.trainingNumerics(task.runId);
  if (await store.putNew(key, JSON.stringify(mine, null, 2), "application/json")) return [];
  const first = await getJson(store, key, trainingNumerics);
  const differences = numericsDifferences(first, mine);
  if (differences.length === 0 || task.allowOtherNumerics === true) return differences.map(({ field }) => field);
  const list = differences.map(({ field, left, right }) => `${field} is ${left} there and ${right} here`).join("; ");
  throw new TrainingHaltedError(
    "NUMERICS_DIFFER",
    `this worker would compute with other numerics than the run's first, and so give other weights: ${list}. ` +
      "Run all workers on one kind of machine, or allow other numerics in the task.",
  );
}
