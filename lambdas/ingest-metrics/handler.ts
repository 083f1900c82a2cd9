import { meter } from "../../adapters/cloudwatch/emf-meter";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { runIdentities } from "../../adapters/dynamodb/run-identities";
import { runKeys } from "../../adapters/dynamodb/run-keys";
import { runs } from "../../adapters/team-runs";
import { functionHandler } from "../function-handler";
import { IngestLag, ingest } from "./ingest";

let lag: IngestLag | undefined;

export const handler = functionHandler(
  {
    shared: { identities: runIdentities("read"), runKeys: runKeys("read"), meter: meter() },
    team: { runs: runs("report"), metrics: metrics("write") },
  },
  async ({ identities, runKeys, meter, clock, forTeam }, event: unknown) => {
    lag ??= new IngestLag(meter);
    const { series } = await ingest(async (runId) => forTeam(await identities.findTeam(runId)), runKeys, event);
    lag.stored(series, clock.now());
    return { accepted: true } as const;
  },
);
