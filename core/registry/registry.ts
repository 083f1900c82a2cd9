import { ModelNotFoundError, NoChampionError, RegistryBusyError, VersionNotFoundError } from "./errors";
import type { Model, ModelVersion } from "./model";
import type { ModelRepository } from "./repository";
import type { Actor, Transition } from "./transitions";

/** Enough for hundreds of writers: each round at least one of them gets through. */
const rounds = 200;

export type NewVersion = Omit<ModelVersion, "version" | "stage" | "createdAt">;

/** Decisions on a model: read, decide by a pure transition, commit under the revision that was read; again where that was overtaken. */
export function createRegistry(repository: ModelRepository) {
  async function apply(name: string, versions: readonly number[], transition: Transition): Promise<Model> {
    for (let round = 0; round < rounds; round += 1) {
      const model = await repository.find(name);
      if (!model) throw new ModelNotFoundError(name);
      const needed = new Set([...versions, model.production, model.formerProduction.at(-1)]);
      const loaded = new Map<number, ModelVersion>();
      for (const version of needed) {
        const found = version === undefined ? undefined : await repository.findVersion(name, version);
        if (found) loaded.set(found.version, found);
      }
      const change = transition({ model, version: (version) => loaded.get(version) });
      if (!change) return model;
      if (await repository.commit(change)) return change.model;
    }
    throw new RegistryBusyError(name);
  }

  return {
    repository,
    apply,

    /** Makes a run's version, once a run. @returns its number, whether made now or before. */
    async register(team: string, version: NewVersion, actor: Actor): Promise<number> {
      for (let round = 0; round < rounds; round += 1) {
        const known = await repository.findVersionOfRun(version.model, version.runId);
        if (known !== undefined) return known;
        const head = (await repository.find(version.model)) ?? emptyModel(version.model, team, actor.at);
        const number = head.latestVersion + 1;
        const revision = head.revision + 1;
        const committed = await repository.commit(
          {
            model: { ...head, revision, latestVersion: number, updatedAt: actor.at },
            versions: [{ ...version, version: number, stage: "none", createdAt: actor.at }],
            history: {
              revision,
              action: "registered",
              version: number,
              by: actor.by,
              reason: actor.reason,
              at: actor.at,
            },
          },
          { runId: version.runId },
        );
        if (committed) return number;
      }
      throw new RegistryBusyError(version.model);
    },

    async version(name: string, version: number): Promise<ModelVersion> {
      const found = await repository.findVersion(name, version);
      if (found) return found;
      if (!(await repository.find(name))) throw new ModelNotFoundError(name);
      throw new VersionNotFoundError(name, version);
    },

    /** The champion. @throws NoChampionError where nothing was promoted yet. */
    async production(name: string): Promise<ModelVersion> {
      const model = await repository.find(name);
      if (!model) throw new ModelNotFoundError(name);
      const champion =
        model.production === undefined ? undefined : await repository.findVersion(name, model.production);
      if (!champion) throw new NoChampionError(name);
      return champion;
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

function emptyModel(name: string, team: string, at: string): Model {
  return { name, team, revision: 0, latestVersion: 0, formerProduction: [], createdAt: at, updatedAt: at };
}
