import type { Command } from "commander";
import type { ApiClient } from "../../client/api-client";
import { parseDatasetReference } from "../../core/datasets/repository";
import { splitNames } from "../../core/datasets/shapes";
import { digestOf } from "../../core/digest";
import { InvalidInputError } from "../../core/errors";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { contextOf } from "../context";
import { download } from "../download";
import { type DatasetEvaluation, evaluateDataset } from "../evaluate-dataset";
import { artifactOf } from "../model-artifact";
import { formatNumber, printJson, printTable } from "../output";
import { loadModel } from "../predict";

interface Options {
  readonly dataset: string;
  readonly split: string;
  readonly experiment: string;
  readonly record: boolean;
}

const splits = [...splitNames, "all"] as const;

/** Adds `evaluate`, which loads a version in this process and evaluates it on any dataset version. */
export function addEvaluateCommand(program: Command): void {
  program
    .command("evaluate <model>")
    .description("evaluate a version on a dataset: NAME (the one in production), NAME@3 or NAME@ALIAS")
    .requiredOption("--dataset <dataset>", "NAME, NAME@VERSION or NAME@latest")
    .option("--split <split>", `rows: ${splits.join(", ")}`, "test")
    .option("--experiment <name>", "experiment in which the evaluation is recorded as a run", "evaluations")
    .option("--no-record", "record nothing")
    .action(async (which: string, options: Options, command: Command) => {
      const { client, json } = contextOf(command);
      const split = splits.find((one) => one === options.split);
      if (split === undefined) {
        const problem = { path: "--split", value: options.split, rule: `must be one of ${splits.join(", ")}` };
        throw new InvalidInputError("the model cannot be evaluated", [problem]);
      }
      const { name, version: number } = parseDatasetReference(options.dataset);
      const [{ model, version, artifact }, { manifest }] = await Promise.all([
        artifactOf(client, which),
        client.dataset(name, number),
      ]);
      const predictor = await loadModel(client, artifact);
      // Loaded only by this command, because DuckDB loads slowly.
      const { withDuckDb } = await import("../../adapters/duckdb/workspace");
      const { createShardSource } = await import("../../adapters/duckdb/shard-source");
      const objects = { getContent: (sha256: string) => download(client, sha256) };
      const evaluation = await withDuckDb((session) =>
        evaluateDataset({
          artifact,
          predictor,
          manifest,
          rows: createShardSource(session, objects, manifest),
          objects,
          split,
        }),
      ).finally(() => predictor.dispose());
      const subject = { model, version, dataset: `${manifest.name}@${manifest.version}`, split };
      const runId = options.record
        ? await record(client, options.experiment, { ...subject, artifact, evaluation, digest: manifest.digest })
        : undefined;
      const { metrics: own } = await client.modelVersion(model, version);
      if (json) printJson({ ...subject, ...evaluation, own, runId });
      else print(subject, evaluation, own, runId);
    });
}

interface Subject {
  readonly model: string;
  readonly version: number;
  readonly dataset: string;
  readonly split: string;
}

/** Records an evaluation as a run that read the dataset. The same result is recorded once. */
async function record(
  client: ApiClient,
  experiment: string,
  made: Subject & {
    readonly artifact: ModelArtifact;
    readonly evaluation: DatasetEvaluation;
    readonly digest: string;
  },
): Promise<string> {
  const { model, version, dataset, split, artifact, evaluation, digest } = made;
  const [name = "", number] = dataset.split("@");
  const body = {
    experiment,
    name: `${model}@${version} on ${dataset} (${split})`,
    status: "completed" as const,
    params: { model, version: String(version), dataset, split, weightsSha256: artifact.weightsSha256 },
    tags: { "ringmaster.evaluation": `${model}@${version}` },
    metrics: Object.fromEntries(
      Object.entries(evaluation.metrics).map(([metric, value]) => [`${split}/${metric}`, value]),
    ),
    datasets: [{ name, version: Number(number), digest, sourceType: "ringmaster", source: dataset }],
  };
  return (await client.call("logRun", { body, idempotencyKey: `evaluation-${digestOf(body)}` })).run.runId;
}

function print(
  { model, version, dataset, split }: Subject,
  { rows, metrics, classes }: DatasetEvaluation,
  own: Readonly<Record<string, number>>,
  runId: string | undefined,
): void {
  const number = (value: number | undefined): string => (value === undefined ? "" : formatNumber(value));
  process.stdout.write(`${model} version ${version} on ${rows} rows of ${dataset} (${split})\n\n`);
  printTable(
    ["METRIC", "HERE", "AT ITS EVALUATION"],
    Object.entries(metrics).map(([metric, value]) => [metric, number(value), number(own[metric])]),
  );
  if (classes) {
    process.stdout.write("\n");
    printTable(
      ["CLASS", "ROWS", "PRECISION", "RECALL", "F1"],
      classes.map(({ value, support, precision, recall, f1 }) => [
        String(value),
        support,
        ...[precision, recall, f1].map(number),
      ]),
    );
  }
  if (runId !== undefined) process.stdout.write(`\nrecorded as run ${runId}\n`);
}
