import { meter } from "../../adapters/cloudwatch/emf-meter";
import { metrics } from "../../adapters/dynamodb/metric-store";
import { runKeys } from "../../adapters/dynamodb/run-keys";
import { runOwners } from "../../adapters/dynamodb/run-owners";
import { runs } from "../../adapters/team-runs";
import { functionHandler } from "../function-handler";
import { IngestLag, ingest } from "./ingest";

let lag: IngestLag | undefined;

/** Takes a trainer's batch of metric points and progress. */
export const handler = functionHandler(
  {
    shared: { owners: runOwners(), runKeys: runKeys("read"), meter: meter() },
    team: { runs: runs("report"), metrics: metrics("write") },
  },
  async ({ owners, runKeys, meter, clock, forTeam }, event: unknown) => {
    lag ??= new IngestLag(meter);
    const { series } = await ingest(async (runId) => forTeam(await owners.findTeam(runId)), runKeys, event);
    lag.stored(series, clock.now());
    return { accepted: true } as const;
  },
);
