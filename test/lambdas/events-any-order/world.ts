import type { Calls, Embedded, TestPlatform as Platform } from "../../support/embedded";
import { createTestPlatform } from "../../support/embedded";
import { datasetFiles } from "./datasets";
import { modelChanges } from "./models";
import { notifications } from "./notifications";
import { retraining } from "./retraining";
import { trainingRuns } from "./runs";

/** One event's delivery; an error means that it will be delivered again. */
export type Delivery = () => Promise<unknown>;

export interface World {
  readonly embedded: Embedded;
  readonly platform: Platform;
  readonly calls: Calls;
}

/** Its clock stands still: what differs between two worlds is not the time. */
export const at = "2026-01-01T00:00:00.000Z";

/** Creates the state before the events, the same in each world, and the events in their original order. */
export async function createWorld(embedded: Embedded): Promise<World & { readonly deliveries: readonly Delivery[] }> {
  const { platform, calls } = createTestPlatform(embedded, { now: () => Date.parse(at) });
  const world = { embedded, platform, calls };
  const deliveries: Delivery[] = [];
  for (const begin of [datasetFiles, retraining, modelChanges, trainingRuns, notifications])
    deliveries.push(...(await begin(world)));
  return { ...world, deliveries };
}
