import { createPlatform, type Deployment } from "../../adapters/platform";
import { ingest } from "../../core/tracking/ingest";

let deployment: Deployment | undefined;

/** Takes a trainer's batch of metric points and progress. */
export async function handler(event: unknown): Promise<{ readonly accepted: true }> {
  deployment ??= createPlatform();
  await ingest(deployment.forRun, event);
  return { accepted: true };
}
