import type { Command } from "commander";
import { measureModelDrift } from "../../core/drift/measure-model";
import { modelBaseline, trainingOf } from "../../core/drift/model-baseline";
import { contextOf } from "../context";
import { download } from "../download";
import { addDriftOptions, type DriftOptions, showDrift, thresholdsOf } from "../drift-report";
import { artifactOf } from "../model-artifact";

interface Options extends DriftOptions {
  readonly file: string;
}

/** Adds `models drift`, which measures in this process how served rows differ from those of the training. */
export function addModelDriftCommand(models: Command): void {
  const command = models
    .command("drift <model>")
    .description(
      "measure how served rows differ from the dataset version that trained a version: NAME (in production), NAME@3 or NAME@ALIAS",
    )
    .requiredOption(
      "--file <file>",
      "served rows: Parquet, CSV or JSON lines with the model's columns and `prediction`",
    );
  addDriftOptions(command).action(async (which: string, options: Options, command: Command) => {
    const { client, json } = contextOf(command);
    const thresholds = thresholdsOf(options);
    const { model, version: number, artifact } = await artifactOf(client, which.replace(/@(\d+)$/, "/$1"));
    const version = await client.modelVersion(model, number);
    const { dataset } = trainingOf(version);
    const { manifest } = await client.dataset(dataset.name, dataset.version);
    // Loaded only by commands that read data, because DuckDB loads slowly.
    const { withDuckDb } = await import("../../adapters/duckdb/workspace");
    const { createShardSource } = await import("../../adapters/duckdb/shard-source");
    const { openServedFile } = await import("../../adapters/duckdb/served-file");
    const objects = { getContent: (sha256: string) => download(client, sha256) };
    const report = await withDuckDb(async (session) => {
      const rows = createShardSource(session, objects, manifest);
      const baseline = await modelBaseline(objects, version, artifact, { manifest, rows });
      return measureModelDrift(baseline, await openServedFile(session, options.file, baseline), thresholds);
    });
    showDrift(report, options, json);
  });
}
