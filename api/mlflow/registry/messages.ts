import type { Platform } from "../../../adapters/platform";
import { hasCode } from "../../../core/errors";
import { isoTime } from "../../../core/ports";
import { isVisible } from "../../../core/registry/change";
import { type Actor, type Model, type ModelVersion, type Stage, stages } from "../../../core/registry/model";
import { asOf, visibleVersions } from "../../../core/registry/registry";
import { doesNotExist, invalidParameter, MlflowError } from "../errors";
import { keyValues, undefinedIfEmpty } from "../tracking/messages";
import { checkModelName, versionNumber } from "./validation";

/** MLflow has no canary stage; its clients see Staging. */
const shown: Readonly<Record<Stage, string>> = {
  none: "None",
  staging: "Staging",
  canary: "Staging",
  production: "Production",
  archived: "Archived",
};
const names = ["None", "Staging", "Production", "Archived"] as const;

export function stageName(stage: Stage): string {
  return shown[stage];
}

/** Ignores case. @throws MlflowError */
export function stageOf(name: string): Stage {
  const stage = stages.find((each) => each !== "canary" && each === name.toLowerCase());
  if (stage === undefined) {
    throw invalidParameter(`Invalid Model Version stage: ${name}. Value must be one of ${names.join(", ")}.`);
  }
  return stage;
}

export function modelMessage(model: Model, latest: readonly ModelVersion[]): object {
  return {
    name: model.name,
    creation_timestamp: Date.parse(model.createdAt),
    last_updated_timestamp: Date.parse(model.updatedAt),
    description: model.description || undefined,
    // Aliases are shown with the model.
    latest_versions: undefinedIfEmpty(latest.map((version) => versionMessage(version, {}))),
    tags: undefinedIfEmpty(keyValues(model.tags)),
    aliases: undefinedIfEmpty(
      Object.entries(model.aliases).map(([alias, version]) => ({ alias, version: String(version) })),
    ),
  };
}

/** Its status is always READY. @param aliases aliases of the model */
export function versionMessage(version: ModelVersion, aliases: Readonly<Record<string, number>>): object {
  return {
    name: version.model,
    version: String(version.version),
    creation_timestamp: Date.parse(version.createdAt),
    last_updated_timestamp: Date.parse(version.updatedAt),
    current_stage: stageName(version.stage),
    description: version.description,
    source: version.source ?? "",
    run_id: version.runId ?? "",
    status: "READY",
    tags: undefinedIfEmpty(keyValues(version.tags)),
    run_link: version.runLink ?? "",
    aliases: undefinedIfEmpty(
      Object.entries(aliases)
        .filter(([, named]) => named === version.version)
        .map(([alias]) => alias),
    ),
  };
}

export function latestOfStages(versions: readonly ModelVersion[]): readonly ModelVersion[] {
  const latest = new Map<string, ModelVersion>();
  for (const version of versions) {
    const stage = stageName(version.stage);
    const previous = latest.get(stage);
    if (previous === undefined || previous.version < version.version) latest.set(stage, version);
  }
  return [...latest.values()].sort((a, b) => a.version - b.version);
}

export function actorOf({ clock }: Pick<Platform, "clock">, caller: Pick<Actor, "by" | "person">): Actor {
  return { ...caller, at: isoTime(clock) };
}

export async function findModel({ registry }: Pick<Platform, "registry">, name: string): Promise<Model> {
  checkModelName(name);
  return translateErrors(() => registry.head(name));
}

export async function findVersion(
  { registry }: Pick<Platform, "registry">,
  name: string,
  version: string,
): Promise<{ readonly model: Model; readonly version: ModelVersion }> {
  checkModelName(name);
  const number = versionNumber(version);
  const [model, row] = await Promise.all([
    registry.repository.find(name),
    number < 1 ? undefined : registry.repository.findVersion(name, number),
  ]);
  if (!model || !row || !isVisible(model, row)) throw noSuchVersion(name, version);
  return { model, version: asOf(model, row) };
}

export async function versionAnswer(platform: Pick<Platform, "registry">, name: string, version: string) {
  const row = await findVersion(platform, name, version);
  return { model_version: versionMessage(row.version, row.model.aliases) };
}

/** Lists the versions that are not deleted, newest first, consistent with the model's head. */
export async function versionsOf(
  { registry }: Pick<Platform, "registry">,
  model: Model,
): Promise<readonly ModelVersion[]> {
  return visibleVersions(model, await registry.repository.listVersions(model.name));
}

/** Translates errors of a change of one version: a missing model is reported as a missing version. */
export async function translateVersionErrors<T>(name: string, version: string, action: () => Promise<T>): Promise<T> {
  try {
    return await translateErrors(action);
  } catch (error) {
    const missing = error instanceof MlflowError && hasCode(error.cause, "MODEL_NOT_FOUND");
    throw missing ? noSuchVersion(name, version) : error;
  }
}

/** Runs an action of the registry and translates its errors to messages that MLflow's client tests read. */
export async function translateErrors<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (hasCode(error, "MODEL_NOT_FOUND")) {
      const { model } = error.details as { readonly model: string };
      throw new MlflowError("RESOURCE_DOES_NOT_EXIST", `Registered Model with name=${model} not found`, error);
    }
    if (hasCode(error, "MODEL_EXISTS")) {
      const { model } = error.details as { readonly model: string };
      throw new MlflowError("RESOURCE_ALREADY_EXISTS", `Registered Model (name=${model}) already exists.`, error);
    }
    if (hasCode(error, "MODEL_VERSION_NOT_FOUND")) {
      const { model, version } = error.details as { readonly model: string; readonly version: number };
      throw noSuchVersion(model, String(version));
    }
    throw error;
  }
}

function noSuchVersion(name: string, version: string): Error {
  return doesNotExist(`Model Version (name=${name}, version=${version}) not found`);
}
