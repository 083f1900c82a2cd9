import type { Model, ModelVersion } from "../../../core/registry/model";
import { stageName } from "./stages";

/** Builds a `RegisteredModel` of `model_registry.proto`. */
export function modelView(model: Model, latest: readonly ModelVersion[]): object {
  return {
    name: model.name,
    creation_timestamp: Date.parse(model.createdAt),
    last_updated_timestamp: Date.parse(model.updatedAt),
    description: model.description || undefined,
    // Aliases are shown with the model.
    latest_versions: undefinedIfEmpty(latest.map((version) => versionView(version, {}))),
    tags: undefinedIfEmpty(Object.entries(model.tags).map(([key, value]) => ({ key, value }))),
    aliases: undefinedIfEmpty(
      Object.entries(model.aliases).map(([alias, version]) => ({ alias, version: String(version) })),
    ),
  };
}

/**
 * Builds a `ModelVersion`. Its status is always READY.
 *
 * @param aliases aliases of the model
 */
export function versionView(version: ModelVersion, aliases: Readonly<Record<string, number>>): object {
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
    tags: undefinedIfEmpty(Object.entries(version.tags).map(([key, value]) => ({ key, value }))),
    run_link: version.runLink ?? "",
    aliases: undefinedIfEmpty(
      Object.entries(aliases)
        .filter(([, named]) => named === version.version)
        .map(([alias]) => alias),
    ),
  };
}

/** Returns the newest version of each stage. */
export function latestOfStages(versions: readonly ModelVersion[]): readonly ModelVersion[] {
  const latest = new Map<string, ModelVersion>();
  for (const version of versions) {
    const stage = stageName(version.stage);
    const known = latest.get(stage);
    if (known === undefined || known.version < version.version) latest.set(stage, version);
  }
  return [...latest.values()].sort((a, b) => a.version - b.version);
}

/** Returns a list as protobuf's JSON mapping has it, which omits empty ones. */
export function undefinedIfEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
