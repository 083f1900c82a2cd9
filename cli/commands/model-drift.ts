import type { Command } from "commander";
import type { ApiClient } from "../../client/api-client";
import { inferenceWindow } from "../../core/drift/inference-log";
import { measureModelDrift, modelBaseline, sampleBaseline, trainingOf } from "../../core/drift/measure-model";
import { InvalidInputError } from "../../core/errors";
import { contextOf } from "../context";
import { withLocalSources } from "../datasets/remote-sources";
import { download } from "../download";
import { addDriftOptions, type DriftOptions, showDrift, thresholdsOf } from "../drift-report";
import { artifactOf } from "../model-reference";
import { inferenceBatches, timeBefore } from "../prediction-log";
import { assertKeepsInputs } from "../write-file";

interface Options extends DriftOptions {
  readonly file?: string;
  readonly since?: string;
}

export function addModelDriftCommand(models: Command): void {
  const command = models
    .command("drift <model>")
    .description(
      "measure how inferences differ from the dataset version that trained a version: NAME (in production), NAME@3 or NAME@ALIAS",
    )
    .option(
      "--file <file>",
      "inferences with the model's columns and `prediction`: file, folder, glob or URL, as for push",
    )
    .option("--since <time>", "without --file: logged rows from a time on, in ISO 8601, or 24h, 7d");
  addDriftOptions(command).action(async (which: string, options: Options, command: Command) => {
    const thresholds = thresholdsOf(options);
    const { file, since } = options;
    if (file !== undefined && since !== undefined) {
      const rule = "is for the logged rows: all rows of --file are measured";
      throw new InvalidInputError("the drift cannot be measured", [{ path: "--since", value: since, rule }]);
    }
    assertKeepsInputs("--html", options.html, { "--file": file });
    const from = since === undefined ? 0 : timeBefore("--since", since, Date.now());
    const { client, json } = contextOf(command);
    const { model, version: number, artifact } = await artifactOf(client, which);
    const version = await client.modelVersion(model, number);
    const { dataset } = trainingOf(version);
    const { manifest } = await client.dataset(dataset.name, dataset.version);
    // Loaded only by commands that read data, because DuckDB loads slowly.
    const { withDuckDb } = await import("../../adapters/duckdb/workspace");
    const { createShardSource } = await import("../../adapters/duckdb/shard-source");
    const { openInferenceFile } = await import("../../adapters/duckdb/inference-file");
    const objects = { getContent: (sha256: string) => download(client, sha256) };
    const measure = (files?: readonly string[]) =>
      withDuckDb(async (session) => {
        const rows = createShardSource(session, objects, manifest);
        const baseline = await modelBaseline(objects, version, artifact, { manifest, rows });
        const window =
          files === undefined
            ? inferenceWindow(objects, await servedSince(client, version, from), { since: from })
            : await openInferenceFile(session, files, baseline);
        return measureModelDrift(await sampleBaseline(baseline), window, thresholds);
      });
    const report = file === undefined ? await measure() : await withLocalSources([file], () => undefined, measure);
    showDrift(report, options, json);
  });
}

async function servedSince(
  client: ApiClient,
  version: { readonly model: string; readonly version: number },
  from: number,
) {
  const batches = await inferenceBatches(client, version.model, version.version);
  return batches.filter(({ to }) => Date.parse(to) >= from);
}
