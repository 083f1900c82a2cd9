import { type Clock, systemClock } from "../clock";
import type { Service, StoredServiceOptions } from "../service";
import { serve } from "./http";
import type { Context } from "./operations/context";
import { Catalog } from "./store/catalog";
import { Maintenance } from "./store/maintenance";
import { Store } from "./store/store";

/** Creates the embedded DynamoDB. Only one process at a time can open its directory. docs/adr/002-dynamodb.md lists what it supports. */
export async function createDynamoDb({ dataDirectory, clock = systemClock }: StoredServiceOptions): Promise<Service> {
  const { context, close } = await openDynamoDb(dataDirectory, clock);
  const inFlight = new Set<Promise<void>>();
  return {
    signingName: "dynamodb",
    handle(request, response, caller) {
      const served = serve(context, request, response, caller).finally(() => inFlight.delete(served));
      inFlight.add(served);
      return served;
    },
    async close() {
      await Promise.allSettled(inFlight);
      await close();
    },
  };
}

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
  return {
    context: { store, catalog, maintenance, clock },
    async close() {
      await maintenance.close();
      await store.close();
    },
  };
}
