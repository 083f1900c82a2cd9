import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventBridgeEvent } from "aws-lambda";
import { ingestViewRows } from "../../adapters/duckdb/view-ingest";
import { createBatchReader } from "../../adapters/duckdb/view-rows";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { featureBatches, featureViews, onlineFeatures } from "../../adapters/dynamodb/feature-store";
import { teamObjects } from "../../adapters/s3/object-store";
import { createStoreUploads } from "../../adapters/s3/store-uploads";
import { materializeBatch, materializeView } from "../../core/feature-store/materialize";
import type { BatchLog, FeatureRows, OnlineStore, ViewDue, ViewRepository } from "../../core/feature-store/ports";
import { resolveView } from "../../core/feature-store/registry";
import { registerBatch } from "../../core/feature-store/stream";
import type { Clock, ObjectStore } from "../../core/ports";
import { functionHandler } from "../function-handler";

export interface StorePorts {
  readonly views: ViewRepository;
  readonly batches: BatchLog;
  readonly online: Pick<OnlineStore, "put" | "putWindowRows">;
  readonly objects: ObjectStore;
  readonly clock: Clock;
}

/**
 * Stores the rows of an event with the code of `ringmaster views ingest`, then brings them into the online store.
 * Idempotent: an event that is delivered again finds its batch, and completes what an earlier delivery did not.
 */
export async function storeRows(ports: StorePorts, { view, rows }: Pick<FeatureRows, "view" | "rows">) {
  const version = await resolveView(ports.views, view);
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-rows-"));
  try {
    const file = join(directory, "rows.jsonl");
    // Each line has all columns: the first one alone would decide which the file has.
    const lines = rows.map((row) =>
      JSON.stringify(
        Object.fromEntries(Object.keys(version.definition.columns).map((name) => [name, row[name] ?? null])),
      ),
    );
    writeFileSync(file, lines.join("\n"));
    const registered = await ingestViewRows({
      ...{ file, version, uploads: createStoreUploads(ports.objects) },
      register: (draft) => registerBatch(ports, view, draft, "event"),
    });
    await withDuckDb((session) =>
      materializeBatch({ ...ports, reader: createBatchReader(session, ports.objects) }, version, registered.batch),
    );
    return registered;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

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
