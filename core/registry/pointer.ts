import { objectKeys } from "../platform/object-keys";
import type { ResolvedModel } from "./production";
import type { Pause } from "./registry";

/** Documents that are overwritten only by who has seen what he overwrites. */
export interface PointerStore {
  find(key: string): Promise<{ readonly body: string; readonly tag: string } | undefined>;
  /** False where the object is no longer the one of that tag; without a tag: where there is one. */
  put(key: string, body: string, tag: string | undefined): Promise<boolean>;
}

export interface PointerDependencies {
  readonly store: PointerStore;
  /** The champion of this moment, strongly consistent. */
  readonly resolve: (model: string) => Promise<ResolvedModel>;
  readonly pause?: Pause;
}

const rounds = 24;

/**
 * What serving should load, in the bucket as well: an answer for when DynamoDB has none. It is written after the promotion or rollback that it tells of, and never
 * goes back: who overwrites it has seen a lower revision in it.
 */
export function createProductionPointer({ store, resolve, pause = () => Promise.resolve() }: PointerDependencies) {
  async function read(model: string) {
    const found = await store.find(objectKeys.productionPointer(model));
    return found && { ...found, resolved: JSON.parse(found.body) as ResolvedModel };
  }

  return {
    async find(model: string): Promise<ResolvedModel | undefined> {
      return (await read(model))?.resolved;
    },

    /** Makes it tell of the champion of now, or of a later one. */
    async refresh(model: string): Promise<void> {
      for (let round = 0; round < rounds; round += 1) {
        if (round > 0) await pause(round);
        // First what would be overwritten: a champion that is read after it is no older than what it tells of, unless it is behind.
        const before = await read(model);
        const resolved = await resolve(model);
        if (before && before.resolved.revision >= resolved.revision) return;
        if (await store.put(objectKeys.productionPointer(model), JSON.stringify(resolved), before?.tag)) return;
      }
      throw new Error(
        `the pointer to the champion of ${model} was overwritten ${rounds} times by others: left for the sweep`,
      );
    },
  };
}

export type ProductionPointer = ReturnType<typeof createProductionPointer>;
