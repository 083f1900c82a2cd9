import type { EventBridgeEvent } from "aws-lambda";
import { createBatchReader } from "../../adapters/duckdb/view-rows";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { featureBatches } from "../../adapters/dynamodb/batch-log";
import { onlineFeatures } from "../../adapters/dynamodb/online-store";
import { featureViews } from "../../adapters/dynamodb/view-repository";
import { teamObjects } from "../../adapters/s3/object-store";
import { materializeView } from "../../core/feature-store/materialize";
import type { FeatureRows, ViewDue } from "../../core/feature-store/ports";
import { resolveView } from "../../core/feature-store/registry";
import { functionHandler } from "../function-handler";
import { storeRows } from "./store-rows";

/** Time that is reserved for the last file. */
const reserveMs = 3 * 60_000;

type FeatureEvent = EventBridgeEvent<"Feature Rows", FeatureRows> | EventBridgeEvent<"Feature View Due", ViewDue>;

/** Stores rows that a program has sent, offline and online; brings the batches of a view into the online store. */
export const handler = functionHandler(
  {
    shared: {},
    team: {
      views: featureViews("read"),
      batches: featureBatches("read", "list", "write"),
      online: onlineFeatures("write"),
      objects: teamObjects("read", "write", "upload"),
    },
  },
  async ({ forTeam, logger }, event: FeatureEvent, context) => {
    const ports = forTeam(event.detail.team);
    const { view } = event.detail;
    if (event["detail-type"] === "Feature Rows") {
      const { created, batch } = await storeRows(ports, event.detail);
      logger.log("info", "rows of a feature view stored", {
        view,
        created,
        rows: batch.rows,
        sequence: batch.sequence,
      });
      return;
    }
    const version = await resolveView(ports.views, view);
    const online = await withDuckDb((session) =>
      materializeView(
        { ...ports, reader: createBatchReader(session, ports.objects) },
        version,
        () => context.getRemainingTimeInMillis() > reserveMs,
      ),
    );
    logger.log("info", "feature view brought into the online store", { view, ...online });
  },
);
