import type { ModelSpec } from "../runs/job";
import type { Task } from "../runs/model-definition";
import type { FeatureManifest } from "./manifest";

/**
 * The task that a label defines: two classes are a binary task with one logit a row, more are a classification with one logit a
 * class, values are a regression.
 */
export function taskOf(label: FeatureManifest["label"]): { readonly task: Task; readonly outputs: number } {
  if (label.kind === "value") return { task: "regression", outputs: 1 };
  if (label.classes.length === 2) return { task: "binary", outputs: 1 };
  return { task: "classification", outputs: label.classes.length };
}

/** A built-in model's definition for these features. */
export function builtInDefinition(
  spec: Exclude<ModelSpec, { type: "module" }>,
  features: Pick<FeatureManifest, "transform" | "label">,
) {
  return { ...spec, inputShape: features.transform.shape, ...taskOf(features.label) };
}
