import { inRounds, type Pause } from "../backoff";
import { contended, RingmasterError } from "../errors";
import { isVisible, type ModelChange, type Transition } from "./change";
import { modelNotFound, noChampion, versionNotFound } from "./errors";
import { createModel, emptyModel, type NewVersion, newVersion, renewed } from "./lifecycle";
import type { Actor, HistoryEntry, Model, ModelVersion } from "./model";
import { renameModel } from "./rename";
import type { ModelRepository, Once } from "./repository";
import { settleTraffic } from "./serving/traffic";
import { rollBack } from "./transitions";

/** Number of attempts, with pauses of at most two seconds: the time that a request has. */
const rounds = 24;

/** A consistent snapshot without deleted versions: versions newest first, history oldest first. */
export interface ModelSnapshot {
  readonly model: Model;
  readonly versions: readonly ModelVersion[];
  readonly history: readonly HistoryEntry[];
}

/** The facts that a decision needs in addition to the head, the champion and the previous champion. */
export interface Needs {
  readonly versions: readonly number[];
  readonly semver?: string;
  /** The team of a model that may not exist yet. */
  readonly orNew?: { readonly team: string; readonly actor: Actor };
}

/** Called after a change was committed. If it fails, it is repaired later; the change stays. */
export interface FollowUp {
  committed(change: ModelChange): Promise<void>;
}

/** Executes decisions: reads, decides by a pure transition, commits if the revision is unchanged; else repeats. */
export function createRegistry(
  repository: ModelRepository,
  pause: Pause = () => Promise.resolve(),
  followUp?: FollowUp,
) {
  const retry = (name: string) => ({
    rounds,
    pause,
    busy: () => contended("REGISTRY_BUSY", `model ${name}`, { model: name }),
  });

  async function commit(change: ModelChange, once?: Once): Promise<boolean> {
    if (!(await repository.commit(change, once))) return false;
    await followUp?.committed(change);
    return true;
  }

  async function head(name: string): Promise<Model> {
    const model = await repository.find(name);
    if (model?.lifecycle !== "active") throw modelNotFound(name, model?.renamedTo);
    return model;
  }

  async function find(name: string, orNew: Needs["orNew"]): Promise<Model> {
    const model = await repository.find(name);
    if (model) return model;
    if (!orNew) throw modelNotFound(name);
    return emptyModel(name, orNew.team, orNew.actor);
  }

  async function version(name: string, number: number): Promise<ModelVersion> {
    const [model, modelVersion] = await Promise.all([head(name), repository.findVersion(name, number)]);
    if (!modelVersion || !isVisible(model, modelVersion)) throw versionNotFound(name, number);
    return modelVersion;
  }

  /**
   * @param needs versions and other facts that the transition reads
   * @param request makes the change once; a repetition returns the model unchanged
   * @throws the transition's refusals
   * @throws MODEL_NOT_FOUND, REGISTRY_BUSY
   */
  function apply(
    name: string,
    needs: readonly number[] | Needs,
    transition: Transition,
    request?: string,
  ): Promise<Model> {
    const { versions, semver, orNew }: Needs = "versions" in needs ? needs : { versions: needs };
    return inRounds(retry(name), async () => {
      const model = await find(name, orNew);
      const needed = new Set([...versions, model.production, model.formerProduction.at(-1)]);
      const [earlierRevision, semverOwner, ...rows] = await Promise.all([
        request === undefined ? undefined : repository.findRequest(name, request),
        semver === undefined ? undefined : repository.findSemver(name, semver),
        ...[...needed].map((each) => (each === undefined ? undefined : repository.findVersion(name, each))),
      ]);
      if (earlierRevision !== undefined) return find(name, orNew);
      const loaded = new Map(rows.map((each) => [each?.version, each]));
      // Versions are read after the head. A refusal, or a decision to change nothing, is valid only if the head is
      // unchanged.
      const stands = async () => (await find(name, orNew)).revision === model.revision;
      try {
        const decided = transition({ model, version: (each) => loaded.get(each), semverOwner });
        const change = decided && settleTraffic(decided);
        if (!change) return (await stands()) ? model : undefined;
        return (await commit(change, { request })) ? change.model : undefined;
      } catch (error) {
        if (!(error instanceof RingmasterError) || (await stands())) throw error;
        return undefined;
      }
    });
  }

  return {
    repository,
    apply,
    head,
    version,

    /** Creates a model without versions. @throws MODEL_EXISTS */
    create(team: string, name: string, labels: Pick<Model, "description" | "tags">, actor: Actor, request?: string) {
      return apply(name, { versions: [], orNew: { team, actor } }, createModel(labels, actor), request);
    },

    /**
     * Renames a model without production history, in one write.
     * @throws MODEL_NOT_FOUND
     * @throws MODEL_NAME_FIXED
     * @throws MODEL_EXISTS if the new name is in use
     */
    rename(name: string, newName: string, actor: Actor): Promise<Model> {
      return inRounds(retry(name), async () => {
        const [model, target] = await Promise.all([head(name), repository.find(newName)]);
        // Read after the head. Versions of a later change fail together with it at the commit.
        const versions = (await repository.listVersions(name)).filter(({ version }) => version >= model.firstVersion);
        try {
          const rename = renameModel(model, versions, { name: newName, target }, actor);
          if (!(await repository.commitRename(rename))) return undefined;
          await followUp?.committed(rename.left);
          await followUp?.committed(rename.taken);
          return rename.taken.model;
        } catch (error) {
          const now = await Promise.all([repository.find(name), repository.find(newName)]);
          const stands = now[0]?.revision === model.revision && now[1]?.revision === target?.revision;
          if (!(error instanceof RingmasterError) || stands) throw error;
          return undefined;
        }
      });
    },

    /**
     * Returns to the previous champion. The request refers to one champion: the present one, unless `from` names it.
     * @throws ROLLBACK_OVERTAKEN if `from` is no longer in production
     * @throws NOTHING_TO_ROLL_BACK
     */
    async rollBack(name: string, actor: Actor, request: { readonly from?: number; readonly request?: string } = {}) {
      const from = request.from ?? (await head(name)).production;
      return apply(name, [], rollBack(actor, from), request.request);
    },

    /**
     * Registers a version, and creates the model if there is none of that name. The version's stage is `none`, whatever
     * its origin.
     * @param once a run or request that registers one version; a repetition returns that version
     * @returns its number, whether created now or before
     * @throws SEMVER_TAKEN
     */
    register(team: string, draft: NewVersion, actor: Actor, once: Once = {}): Promise<number> {
      const name = draft.model;
      return inRounds(retry(name), async () => {
        const number = await versionMade(name, once);
        if (number !== undefined) return number;
        const storedModel = await find(name, { team, actor });
        const model = storedModel.lifecycle === "active" ? storedModel : renewed(storedModel, actor);
        const semverOwner = draft.semver === undefined ? undefined : await repository.findSemver(name, draft.semver);
        const change = newVersion({ model, version: () => undefined, semverOwner }, draft, actor);
        return (await commit(change, once)) ? model.latestVersion + 1 : undefined;
      });
    },

    /** Lists models that are not deleted, by name. */
    async list(): Promise<readonly Model[]> {
      return (await repository.list()).filter(({ lifecycle }) => lifecycle === "active");
    },

    /** Returns a consistent snapshot of a model and its versions, newest first, without deleted versions. */
    async details(name: string): Promise<Omit<ModelSnapshot, "history">> {
      const model = await head(name);
      return { model, versions: visibleVersions(model, await repository.listVersions(name)) };
    },

    /** Returns a consistent snapshot of everything of a model, although it is read row by row. */
    async snapshot(name: string): Promise<ModelSnapshot> {
      const model = await head(name);
      const [versions, history] = await Promise.all([repository.listVersions(name), repository.history(name)]);
      return {
        model,
        versions: visibleVersions(model, versions),
        history: history.filter(({ revision }) => revision <= model.revision),
      };
    },

    champion,

    /** Returns only the champion. @throws NO_CHAMPION if nothing was promoted yet */
    production: async (name: string): Promise<ModelVersion> => (await champion(name)).version,
  };

  /** @throws NO_CHAMPION if nothing was promoted yet */
  async function champion(name: string): Promise<{ readonly model: Model; readonly version: ModelVersion }> {
    const model = await head(name);
    const row = model.production === undefined ? undefined : await repository.findVersion(name, model.production);
    if (!row) throw noChampion(name);
    return { model, version: asOf(model, row) };
  }

  async function versionMade(name: string, { runId, request }: Once): Promise<number | undefined> {
    if (runId !== undefined) {
      const versionNumber = await repository.findVersionOfRun(name, runId);
      if (versionNumber !== undefined) return versionNumber;
    }
    const revision = request === undefined ? undefined : await repository.findRequest(name, request);
    return revision === undefined ? undefined : (await repository.findHistory(name, revision))?.version;
  }
}

export type Registry = ReturnType<typeof createRegistry>;

export function visibleVersions(model: Model, versions: readonly ModelVersion[]): readonly ModelVersion[] {
  return versions
    .filter((each) => each.version <= model.latestVersion && isVisible(model, each))
    .map((each) => asOf(model, each));
}

/** Corrects a version's stage by the head, which decides; a later promotion may already show in the version. */
export function asOf(model: Model, version: ModelVersion): ModelVersion {
  if ((version.version === model.production) === (version.stage === "production")) return version;
  if (version.version === model.production) {
    return { ...version, ...version.served, approvalsWithdrawn: undefined, stage: "production" };
  }
  return { ...version, stage: model.formerProduction.includes(version.version) ? "archived" : "staging" };
}
