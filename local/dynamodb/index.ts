import { mkdir } from "node:fs/promises";
import { type Clock, systemClock } from "../clock";
import type { Service } from "../service";
import { serve } from "./http";
import type { Context } from "./operations/context";
import { Catalog } from "./store/catalog";
import { Maintenance } from "./store/maintenance";
import { Store } from "./store/store";

export interface DynamoDbOptions {
  /** A directory of its own; created where there is none. One process at a time can have it open. */
  readonly dataDirectory: string;
  readonly clock?: Clock;
}

/** Opens the embedded DynamoDB on its data, finishing what a process that was killed had begun. */
export async function createDynamoDb({ dataDirectory, clock = systemClock }: DynamoDbOptions): Promise<Service> {
  await mkdir(dataDirectory, { recursive: true });
  const store = await Store.open(dataDirectory);
  const catalog = await Catalog.open(store);
  const maintenance = new Maintenance(store, catalog, clock);
  await maintenance.start();
  const context: Context = { store, catalog, maintenance, clock, exclusively: serialiser() };
  const inFlight = new Set<Promise<void>>();
  return {
    signingName: "dynamodb",
    handle(request, response) {
      const served = serve(context, request, response).finally(() => inFlight.delete(served));
      inFlight.add(served);
      return served;
    },
    async close() {
      await Promise.allSettled(inFlight);
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
