import { systemClock } from "../clock";
import type { Service, StoredServiceOptions } from "../service";
import { serve } from "./http";
import { openDynamoDb } from "./open";

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
