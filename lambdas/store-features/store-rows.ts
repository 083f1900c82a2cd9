import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ingestViewRows } from "../../adapters/duckdb/view-ingest";
import { createBatchReader } from "../../adapters/duckdb/view-rows";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { createStoreUploads } from "../../adapters/s3/store-uploads";
import { materializeBatch } from "../../core/feature-store/materialize";
import type { BatchLog, FeatureRows, OnlineStore, ViewRepository } from "../../core/feature-store/ports";
import { resolveView } from "../../core/feature-store/registry";
import { registerBatch } from "../../core/feature-store/stream";
import type { Clock, ObjectStore } from "../../core/ports";

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
