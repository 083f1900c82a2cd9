import { type DatasetProfile, datasetProfile } from "../../core/datasets/profile";
import type { LabelEncoding } from "../../core/features/shapes";
import { getJson } from "../../core/object-documents";
import type { ObjectStore } from "../../core/ports";
import type { TrainingTask } from "../../core/runs/training-task";
import { TrainingHaltedError } from "../loop/errors";

/**
 * Returns the task's factors of rows' losses by class index; undefined if there are none.
 *
 * @throws TrainingHaltedError `BAD_TASK` if a weight's class is not in the dataset
 */
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
