import { createPlatform, type Deployment } from "../../adapters/platform";
import { IngestLag, ingest } from "../../core/tracking/ingest";

let deployment: Deployment | undefined;
let lag: IngestLag | undefined;

/** Stores a trainer's batch of metric points and progress. */
export async function handler(event: unknown): Promise<{ readonly accepted: true }> {
  deployment ??= createPlatform();
  lag ??= new IngestLag(deployment.meter);
  const { series } = await ingest(deployment.forRun, deployment.runKeys, event);
  lag.stored(series, deployment.clock.now());
  return { accepted: true };
}
