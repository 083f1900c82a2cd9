import type { Clock } from "../clock";
import type { Context } from "./operations/context";
import { Catalog } from "./store/catalog";
import { Maintenance } from "./store/maintenance";
import { Store } from "./store/store";

export interface OpenDynamoDb {
  readonly context: Context;
  /** Waits for the current maintenance step, and closes the files. */
  close(): Promise<void>;
}

/** Opens the tables in a directory, and completes the work that a killed process has left. */
export async function openDynamoDb(dataDirectory: string, clock: Clock, seals?: string): Promise<OpenDynamoDb> {
  const store = await Store.open(dataDirectory, seals);
  const catalog = await Catalog.open(store);
  const maintenance = new Maintenance(store, catalog, clock);
  await maintenance.start();
  return {
    context: { store, catalog, maintenance, clock, exclusively: serialiser() },
    async close() {
      await maintenance.close();
      await store.close();
    },
  };
}

function serialiser(): Context["exclusively"] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
