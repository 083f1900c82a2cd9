import type {
  ReclamationMemory,
  ReclamationObjects,
  ReclamationRows,
  SavedCycle,
} from "../../../core/reclamation/ports";
import type { ReclaimDependencies } from "../../../core/reclamation/reclaim";

interface StoredObject {
  readonly body: string;
  readonly version: string;
  readonly modified: number;
}

/** An account's objects and rows in memory. It is all of `reclaim`'s dependencies. */
export interface ReclamationWorld extends ReclaimDependencies {
  now: number;
  readonly stored: Map<string, StoredObject>;
  readonly rows: ReclamationRows & string[];
  readonly reads: Map<string, number>;
  put(key: string, body: string, modified?: number): void;
}

/** @param turn awaited before each operation, so that a test chooses the order of several processes' operations */
export function createReclamationWorld(
  turn: (operation: string) => Promise<void> = async () => undefined,
  pageSize = 4,
): ReclamationWorld {
  const stored = new Map<string, StoredObject>();
  const reads = new Map<string, number>();
  const rows: string[] = [];
  let saved: SavedCycle | undefined;
  let versions = 0;

  const operations: ReclamationObjects = {
    async list(after) {
      await turn("list");
      const keys = [...stored.keys()].filter((key) => key > after).sort();
      return keys.slice(0, pageSize).map((key) => {
        const { body, version, modified } = stored.get(key)!;
        return { key, version, modified, bytes: body.length };
      });
    },
    async read(key) {
      await turn(`read ${key}`);
      const object = stored.get(key);
      reads.set(key, (reads.get(key) ?? 0) + 1);
      if (object === undefined) return undefined;
      return (async function* () {
        yield Buffer.from(object.body);
      })();
    },
    async has(key) {
      await turn(`has ${key}`);
      return stored.has(key);
    },
    async erase(objects) {
      for (const { key, version } of objects) {
        await turn(`erase ${key}`);
        if (stored.get(key)?.version === version) stored.delete(key);
      }
    },
  };
  const memory: ReclamationMemory = {
    async load() {
      await turn("load");
      return saved && copyOf(saved);
    },
    async save(next) {
      await turn("save");
      if (next.state.revision !== (saved?.state.revision ?? 0) + 1) return false;
      saved = copyOf(next);
      return true;
    },
  };
  const world: ReclamationWorld = {
    objects: operations,
    stored,
    now: 100 * 24 * 60 * 60 * 1000,
    reads,
    rows: Object.assign(rows, {
      async scan(position: string | undefined) {
        await turn("scan");
        const at = Number(position ?? 0);
        const next = at + pageSize;
        return {
          text: Buffer.from(rows.slice(at, next).join("\n")),
          next: next < rows.length ? String(next) : undefined,
        };
      },
    }),
    memory,
    clock: { now: () => world.now },
    put(key, body, modified = world.now) {
      versions += 1;
      stored.set(key, { body, version: String(versions), modified });
    },
  };
  return world;
}

function copyOf({ state, marks, known, used, before, now }: SavedCycle): SavedCycle {
  return {
    state: structuredClone(state),
    marks: marks.slice(),
    known: new Map(known),
    used: new Map(used),
    before: new Set(before),
    now: new Set(now),
  };
}
