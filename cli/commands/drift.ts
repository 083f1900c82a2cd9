import type { Command } from "commander";
import type { ApiClient } from "../../client/api-client";
import { parseDatasetReference } from "../../core/datasets/repository";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { measureDrift } from "../../core/drift/measure";
import { contextOf } from "../context";
import { download } from "../download";
import { addDriftOptions, type DriftOptions, showDrift, thresholdsOf } from "../drift-report";

/** Adds `datasets drift`, which measures the drift between two versions in this process. */
export function addDriftCommand(datasets: Command): void {
  const command = datasets
    .command("drift <baseline> <current>")
    .description("measure how the rows of a version (NAME@2) differ from those of another one (NAME@1)");
  addDriftOptions(command).action(async (before: string, after: string, options: DriftOptions, command: Command) => {
    const thresholds = thresholdsOf(options);
    const { client, json } = contextOf(command);
    const [baseline, current] = await Promise.all([manifestOf(client, before), manifestOf(client, after)]);
    // Loaded only by commands that read data, because DuckDB loads slowly.
    const { withDuckDb } = await import("../../adapters/duckdb/workspace");
    const { createShardSource } = await import("../../adapters/duckdb/shard-source");
    const objects = { getContent: (sha256: string) => download(client, sha256) };
    const report = await withDuckDb((session) => {
      const version = (manifest: DatasetManifest) => ({
        manifest,
        rows: createShardSource(session, objects, manifest),
      });
      return measureDrift(version(baseline), version(current), thresholds);
    });
    showDrift(report, options, json);
  });
}

async function manifestOf(client: ApiClient, reference: string): Promise<DatasetManifest> {
  const { name, version } = parseDatasetReference(reference);
  return (await client.dataset(name, version)).manifest;
}
