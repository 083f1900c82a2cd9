import { inRounds, type Pause } from "../backoff";
import { parseDocument } from "../object-documents";

/** Documents that are overwritten only by who has seen what he overwrites. */
export interface PointerStore {
  find(key: string): Promise<{ readonly body: string; readonly tag: string } | undefined>;
  /** False where the object is no longer the one of that tag; without a tag: where there is one. */
  put(key: string, body: string, tag: string | undefined): Promise<boolean>;
}

export interface PointerSource<Told> {
  /** What is so at this moment, strongly consistent. */
  resolve(model: string): Promise<Told>;
}

/** What the bucket says of a model. */
export interface Pointer<Told> {
  find(model: string): Promise<Told | undefined>;
  /** Makes it tell of now, or of later. */
  refresh(model: string): Promise<void>;
}

/** @typeParam Told what a pointer tells, and the model's revision that made it so */
export interface PointerDependencies<Told extends { readonly revision: number }> {
  readonly store: PointerStore;
  readonly keyOf: (model: string) => string;
  readonly source: PointerSource<Told>;
  readonly pause?: Pause;
}

const rounds = 24;

/**
 * What serving needs to know of a model, in the bucket as well: an answer for when DynamoDB has none. It is written after the change that it tells of, and never
 * goes back: who overwrites it has seen a lower revision in it.
 */
export function createPointer<Told extends { readonly revision: number }>({
  store,
  keyOf,
  source,
  pause = () => Promise.resolve(),
}: PointerDependencies<Told>): Pointer<Told> {
  async function read(model: string) {
    const found = await store.find(keyOf(model));
    return found && { ...found, told: parseDocument<Told>(keyOf(model), found.body) };
  }

  return {
    async find(model) {
      return (await read(model))?.told;
    },

    async refresh(model) {
      const busy = () =>
        new Error(`the pointer ${keyOf(model)} was overwritten ${rounds} times by others: left for the sweep`);
      await inRounds({ rounds, pause, busy }, async () => {
        // First what would be overwritten: what is read after it is no older than what it tells of, unless it is behind.
        const before = await read(model);
        const told = await source.resolve(model);
        if (before && before.told.revision >= told.revision) return true;
        return (await store.put(keyOf(model), JSON.stringify(told), before?.tag)) || undefined;
      });
    },
  };
}
