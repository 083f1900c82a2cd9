import type { Platform } from "../../../adapters/platform";
import { hasCode } from "../../../core/errors";
import { isoTime } from "../../../core/ports";
import { isVisible } from "../../../core/registry/change";
import type { Actor, Model, ModelVersion } from "../../../core/registry/model";
import { asOf, visibleVersions } from "../../../core/registry/registry";
import { doesNotExist, MlflowError } from "../errors";
import { checkModelName, versionNumber } from "./validation";
import { versionView } from "./view";

/** Returns the caller and the time of a change. */
export function actorOf({ clock }: Pick<Platform, "clock">, caller: Pick<Actor, "by" | "person">): Actor {
  return { ...caller, at: isoTime(clock) };
}

/** @throws MlflowError if the team has no such model */
export async function findModel({ registry }: Pick<Platform, "registry">, name: string): Promise<Model> {
  checkModelName(name);
  return translateErrors(() => registry.head(name));
}

/** @throws MlflowError if the model has no such version */
export async function findVersion(
  { registry }: Pick<Platform, "registry">,
  name: string,
  version: string,
): Promise<{ readonly model: Model; readonly version: ModelVersion }> {
  checkModelName(name);
  const number = versionNumber(version);
  const [model, found] = await Promise.all([
    registry.repository.find(name),
    number < 1 ? undefined : registry.repository.findVersion(name, number),
  ]);
  if (!model || !found || !isVisible(model, found)) throw noSuchVersion(name, version);
  return { model, version: asOf(model, found) };
}

/** Returns the response that holds a version. */
export async function versionAnswer(platform: Pick<Platform, "registry">, name: string, version: string) {
  const found = await findVersion(platform, name, version);
  return { model_version: versionView(found.version, found.model.aliases) };
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
