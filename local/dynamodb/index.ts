import { type Clock, systemClock } from "../clock";
import type { Service } from "../service";
import { serve } from "./http";
import { openDynamoDb } from "./open";

export interface DynamoDbOptions {
  /** A directory of its own; created where there is none. One process at a time can have it open. */
  readonly dataDirectory: string;
  readonly clock?: Clock;
  /** Where the seal of the store lies; by default in the data directory. */
  readonly seals?: string;
}

/** The embedded DynamoDB. What it does and does not do: docs/adr/002-dynamodb.md. */
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
