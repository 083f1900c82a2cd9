import { type Stage, stages } from "../../../core/registry/model";
import { invalidParameter } from "../errors";

/** MLflow has no canary stage; its clients see Staging. */
const shown: Readonly<Record<Stage, string>> = {
  none: "None",
  staging: "Staging",
  canary: "Staging",
  production: "Production",
  archived: "Archived",
};
const names = ["None", "Staging", "Production", "Archived"] as const;

/** Returns MLflow's name of a stage. */
export function stageName(stage: Stage): string {
  return shown[stage];
}

/**
 * Returns the stage of a name, ignoring case.
 *
 * @throws MlflowError
 */
export function stageOf(name: string): Stage {
  const stage = stages.find((each) => each !== "canary" && each === name.toLowerCase());
  if (stage === undefined) {
    throw invalidParameter(`Invalid Model Version stage: ${name}. Value must be one of ${names.join(", ")}.`);
  }
  return stage;
}
