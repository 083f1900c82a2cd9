import { createPlatform, type Platform } from "../../adapters/platform";
import { ingest } from "../../core/tracking/ingest";

let platform: Platform | undefined;

/** Takes a trainer's batch of metric points and progress. */
export async function handler(event: unknown): Promise<{ readonly accepted: true }> {
  platform ??= createPlatform();
  await ingest(platform, event);
  return { accepted: true };
}
