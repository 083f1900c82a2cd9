import { type Clock, systemClock } from "../clock";
import type { Service } from "../service";
import { serve } from "./http";
import { openDynamoDb } from "./open";

export interface DynamoDbOptions {
  /** The directory of the tables. It is created if it does not exist. Only one process at a time can open it. */
  readonly dataDirectory: string;
  readonly clock?: Clock;
  /** The directory of the store's seal. The default is the data directory. */
  readonly seals?: string;
}

/** Creates the embedded DynamoDB. docs/adr/002-dynamodb.md lists what it supports. */
export async function createDynamoDb({ dataDirectory, clock = systemClock, seals }: DynamoDbOptions): Promise<Service> {
  const { context, close } = await openDynamoDb(dataDirectory, clock, seals);
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
