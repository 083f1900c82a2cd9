import type { ModelDefinition, Rematerialise } from "../../core/runs/model-definition";
import { ModelError } from "./errors";

/** Returns what a definition chooses. @param layers names of the model's layers @throws ModelError */
export function rematerialiseOf(definition: ModelDefinition, layers: readonly string[]): Rematerialise {
  const given: unknown = definition.type === "module" ? (definition.rematerialise ?? "none") : "none";
  if (given === "auto" || given === "none") return given;
  const rule = "it must be 'auto', 'none' or a list of the names of layers";
  if (!Array.isArray(given) || given.length === 0) {
    throw new ModelError(`defineTraining's rematerialise is ${JSON.stringify(given)}, but ${rule}.`);
  }
  const unknown = given.find((name) => !layers.includes(name));
  if (unknown === undefined) return given;
  throw new ModelError(
    `defineTraining's rematerialise names the layer ${JSON.stringify(unknown)}, which the model does not have; ` +
      `its layers are ${layers.join(", ")}.`,
  );
}
