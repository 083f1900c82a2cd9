import type { Stage } from "../../../core/registry/model";
import { stages } from "../../../core/registry/stage-names";
import { invalidParameter } from "../errors";

/** MLflow knows no canary: one is a candidate like those in staging, to its clients. */
const shown: Readonly<Record<Stage, string>> = {
  none: "None",
  staging: "Staging",
  canary: "Staging",
  production: "Production",
  archived: "Archived",
};
const names = ["None", "Staging", "Production", "Archived"] as const;

/** A stage by the name that MLflow's clients have for it. */
export function stageName(stage: Stage): string {
  return shown[stage];
}

/** @throws MlflowError where there is none of that name, in whatever capitals */
export function stageOf(name: string): Stage {
  const stage = stages.find((each) => each !== "canary" && each === name.toLowerCase());
  if (stage === undefined) {
    throw invalidParameter(`Invalid Model Version stage: ${name}. Value must be one of ${names.join(", ")}.`);
  }
  return stage;
}
