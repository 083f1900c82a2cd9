import { inRounds, type Pause } from "../backoff";
import { type DocumentKind, parseDocument } from "../object-documents";

/** Documents that are overwritten only by a writer that has read the version that it overwrites. */
export interface PointerStore {
  find(key: string): Promise<{ readonly body: string; readonly tag: string } | undefined>;
  /** Returns false if the object no longer has that tag; without a tag, if there is an object. */
  put(key: string, body: string, tag: string | undefined): Promise<boolean>;
}

export interface PointerSource<State> {
  /** Reads the present state, strongly consistently. */
  resolve(model: string): Promise<State>;
}

export interface Pointer<State> {
  find(model: string): Promise<State | undefined>;
  /** Updates the document to the present state or a later one. */
  refresh(model: string): Promise<void>;
}

/** @typeParam State the document's content, with the model's revision to which it belongs */
export interface PointerDependencies<State extends { readonly revision: number }> {
  readonly store: PointerStore;
  readonly keyOf: (model: string) => string;
  readonly kind: DocumentKind<State>;
  readonly source: PointerSource<State>;
  readonly pause?: Pause;
}

const rounds = 24;

/**
 * Keeps what serving needs of a model in the bucket as well, for when DynamoDB is unavailable. The document is written
 * after the change and never goes back: a writer overwrites only a lower revision.
 */
export function createPointer<State extends { readonly revision: number }>({
  store,
  keyOf,
  kind,
  source,
  pause = () => Promise.resolve(),
}: PointerDependencies<State>): Pointer<State> {
  async function read(model: string) {
    const document = await store.find(keyOf(model));
    return document && { ...document, state: parseDocument(keyOf(model), document.body, kind) };
  }

  return {
    async find(model) {
      return (await read(model))?.state;
    },

    async refresh(model) {
      const busy = () =>
        new Error(`the pointer ${keyOf(model)} was overwritten ${rounds} times by others: left for the sweep`);
      await inRounds({ rounds, pause, busy }, async () => {
        // The document is read before the source. The source's state is therefore not older than the document, unless
        // the source lags.
        const before = await read(model);
        const state = await source.resolve(model);
        if (before && before.state.revision >= state.revision) return true;
        return (await store.put(keyOf(model), JSON.stringify(state), before?.tag)) || undefined;
      });
    },
  };
}
