import { RingmasterError } from "../errors";
import { ModelNotFoundError, NoChampionError, RegistryBusyError, VersionNotFoundError } from "./errors";
import type { HistoryEntry, Model, ModelVersion } from "./model";
import type { ModelRepository } from "./repository";
import { type Actor, rollBack, type Transition } from "./transitions";

/** With `pause` of at most two seconds: what a request has time for. */
const rounds = 24;

export type NewVersion = Omit<ModelVersion, "version" | "stage" | "createdAt">;

/** A model, its versions (newest first) and its history (oldest first) as they were at one moment. */
export interface ModelSnapshot {
  readonly model: Model;
  readonly versions: readonly ModelVersion[];
  readonly history: readonly HistoryEntry[];
}

/**
 * Decisions on a model: read, decide by a pure transition, commit under the revision that was read; again where that was overtaken.
 *
 * @param pause waits before round 1, 2, …: random, and longer each time, so that of many writers few meet
 */
export function createRegistry(
  repository: ModelRepository,
  pause: (round: number) => Promise<void> = () => Promise.resolve(),
) {
  /** @param attempt answers `undefined` where it was overtaken */
  async function inRounds<Result>(name: string, attempt: () => Promise<Result | undefined>): Promise<Result> {
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await pause(round);
      const result = await attempt();
      if (result !== undefined) return result;
    }
    throw new RegistryBusyError(name);
  }

  async function head(name: string): Promise<Model> {
    const model = await repository.find(name);
    if (!model) throw new ModelNotFoundError(name);
    return model;
  }

  async function version(name: string, number: number): Promise<ModelVersion> {
    const found = await repository.findVersion(name, number);
    if (found) return found;
    await head(name);
    throw new VersionNotFoundError(name, number);
  }

  /**
   * @param request makes the change once: where it has made one already, the model is answered as it is
   * @throws the transition's own refusals @throws ModelNotFoundError, RegistryBusyError
   */
  function apply(name: string, versions: readonly number[], transition: Transition, request?: string): Promise<Model> {
    return inRounds(name, async () => {
      const model = await head(name);
      const needed = new Set([...versions, model.production, model.formerProduction.at(-1)]);
      const [made, ...found] = await Promise.all([
        request === undefined ? undefined : repository.findRequest(name, request),
        ...[...needed].map((each) => (each === undefined ? undefined : repository.findVersion(name, each))),
      ]);
      if (made !== undefined) return head(name);
      const loaded = new Map(found.map((each) => [each?.version, each]));
      // Versions were read after the head: a refusal, or that nothing is to be done, holds where the head is still the same.
      const stands = async () => (await head(name)).revision === model.revision;
      try {
        const change = transition({ model, version: (each) => loaded.get(each) });
        if (!change) return (await stands()) ? model : undefined;
        return (await repository.commit(change, { request })) ? change.model : undefined;
      } catch (error) {
        if (!(error instanceof RingmasterError) || (await stands())) throw error;
        return undefined;
      }
    });
  }

  return {
    repository,
    apply,
    version,

    /**
     * Back to the champion before. It is meant for one champion: the one of now, unless `from` names it.
     *
     * @throws RollbackOvertakenError where that is in production no more @throws NothingToRollBackError
     */
    async rollBack(name: string, actor: Actor, asked: { readonly from?: number; readonly request?: string } = {}) {
      const from = asked.from ?? (await head(name)).production;
      return apply(name, [], rollBack(actor, from), asked.request);
    },

    /** Makes a run's version, once a run. @returns its number, whether made now or before. */
    register(team: string, made: NewVersion, actor: Actor): Promise<number> {
      const { model: name, runId } = made;
      return inRounds(name, async () => {
        const known = await repository.findVersionOfRun(name, runId);
        if (known !== undefined) return known;
        const before = (await repository.find(name)) ?? emptyModel(name, team, actor.at);
        const number = before.latestVersion + 1;
        const revision = before.revision + 1;
        const { by, reason, at } = actor;
        const committed = await repository.commit(
          {
            model: { ...before, revision, latestVersion: number, updatedAt: at },
            versions: [{ ...made, version: number, stage: "none", createdAt: at }],
            history: { revision, action: "registered", version: number, by, reason, at },
          },
          { runId },
        );
        return committed ? number : undefined;
      });
    },

    /** All of a model as it was at one moment, although it is read row by row. */
    async snapshot(name: string): Promise<ModelSnapshot> {
      const model = await head(name);
      const [versions, history] = await Promise.all([repository.listVersions(name), repository.history(name)]);
      return {
        model,
        versions: versions.filter((each) => each.version <= model.latestVersion).map((each) => asOf(model, each)),
        history: history.filter(({ revision }) => revision <= model.revision),
      };
    },

    /** The champion. @throws NoChampionError where nothing was promoted yet. */
    async production(name: string): Promise<ModelVersion> {
      const model = await head(name);
      const champion =
        model.production === undefined ? undefined : await repository.findVersion(name, model.production);
      if (!champion) throw new NoChampionError(name);
      return asOf(model, champion);
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

/** The head tells who is the champion. Of a version that was read after it, another one's promotion or its own may have been read too. */
function asOf(model: Model, version: ModelVersion): ModelVersion {
  if ((version.version === model.production) === (version.stage === "production")) return version;
  if (version.version === model.production) return { ...version, ...version.served, stage: "production" };
  return { ...version, stage: model.formerProduction.includes(version.version) ? "archived" : "staging" };
}

function emptyModel(name: string, team: string, at: string): Model {
  return { name, team, revision: 0, latestVersion: 0, formerProduction: [], createdAt: at, updatedAt: at };
}
