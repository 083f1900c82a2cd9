import type { Clock } from "../clock";
import { SerialQueue } from "../serial-queue";
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
export async function openDynamoDb(dataDirectory: string, clock: Clock): Promise<OpenDynamoDb> {
  const store = await Store.open(dataDirectory);
  const catalog = await Catalog.open(store);
  const maintenance = new Maintenance(store, catalog, clock);
  await maintenance.start();
  const changes = new SerialQueue();
  return {
    context: { store, catalog, maintenance, clock, exclusively: (change) => changes.run(change) },
    async close() {
      await maintenance.close();
      await store.close();
    },
  };
}
