import type { ModelDefinition, Rematerialise } from "../../core/runs/model-definition";
import { ModelError } from "./errors";

/** Returns what a definition chooses. @param layers names of the model's layers @throws ModelError */
export function rematerialiseOf(definition: ModelDefinition, layers: readonly string[]): Rematerialise {
  const setting: unknown = definition.type === "module" ? (definition.rematerialise ?? "none") : "none";
  if (setting === "auto" || setting === "none") return setting;
  const rule = "it must be 'auto', 'none' or a list of the names of layers";
  if (!Array.isArray(setting) || setting.length === 0) {
    throw new ModelError(`defineTraining's rematerialise is ${JSON.stringify(setting)}, but ${rule}.`);
  }
  const unknown = setting.find((name) => !layers.includes(name));
  if (unknown === undefined) return setting;
  throw new ModelError(
    `defineTraining's rematerialise names the layer ${JSON.stringify(unknown)}, which the model does not have; ` +
      `its layers are ${layers.join(", ")}.`,
  );
}
