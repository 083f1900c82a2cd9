import type { Command } from "commander";
import type { ApiClient } from "../../client/api-client";
import { parseDatasetReference } from "../../core/datasets/repository";
import { type DatasetManifest, type SplitName, splitNames } from "../../core/datasets/shapes";
import { decodeSplitIndex } from "../../core/datasets/split-index";
import { digestOf } from "../../core/digest";
import { InvalidInputError } from "../../core/errors";
import { classMetrics, confusionMatrix } from "../../core/evaluation/classification";
import { decided } from "../../core/evaluation/decision";
import { metricsOf, predictedClasses } from "../../core/evaluation/metrics";
import type { ModelArtifact } from "../../core/evaluation/model-artifact";
import { misfits, modelRows, predictShards, type RowPredictor } from "../../core/evaluation/predict";
import type { Metrics } from "../../core/evaluation/report";
import type { ClassReport } from "../../core/evaluation/shapes";
import type { RowSource } from "../../core/features/values";
import type { ObjectStore } from "../../core/ports";
import { contextOf } from "../context";
import { download } from "../download";
import { artifactOf } from "../model-reference";
import { formatNumber, printJson, printTable } from "../output";
import { loadModel } from "../predict";

interface DatasetEvaluation {
  readonly rows: number;
  readonly metrics: Metrics;
  /** Present for a label with classes. */
  readonly classes?: readonly Omit<ClassReport, "auc">[];
}

/**
 * Evaluates a model on a split of a dataset version, or all of it. @throws InvalidInputError if it cannot read the rows
 */
export async function evaluateDataset(input: {
  readonly artifact: ModelArtifact;
  readonly predictor: RowPredictor;
  readonly manifest: DatasetManifest;
  readonly rows: RowSource;
  readonly objects: Pick<ObjectStore, "getContent">;
  readonly split: SplitName | "all";
}): Promise<DatasetEvaluation> {
  const { artifact, predictor, manifest, split, objects } = input;
  const { transform, label } = artifact;
  const dataset = `${manifest.name}@${manifest.version}`;
  const refuse = (rules: readonly string[]) =>
    new InvalidInputError(
      "the model cannot be evaluated",
      rules.map((rule) => ({ path: "dataset", value: dataset, rule })),
    );
  const reasons = misfits(artifact, manifest.schema);
  if (reasons.length > 0) throw refuse(reasons.map((reason) => `does not fit the model: ${reason}`));
  const chosen = await chosenRows(manifest, split, objects);
  const count = chosen.reduce((sum, one) => sum + one, 0);
  if (count === 0) throw refuse([`has no rows in its split ${split}; name another one, or all`]);
  const shape = { rows: count, slices: 0, transform, label };
  const rows = modelRows(artifact, manifest.schema, input.rows, chosen);
  const { predictions: found } = await predictShards(rows, shape, predictor);
  if (label.kind === "value") return { rows: count, metrics: metricsOf(found) };
  const predictions = decided(found, label, artifact.decision);
  const { labels } = predictions;
  let unknown = 0;
  for (const one of labels) unknown += Number(one < 0);
  if (unknown > 0) {
    const names = label.classes.join(", ");
    throw refuse([`has ${unknown} of ${count} rows whose ${label.column} the model does not know: it knows ${names}`]);
  }
  const each = classMetrics(
    confusionMatrix(labels, predictedClasses(predictions), label.classes.length),
    label.classes.length,
  );
  const classes = each.map(({ support, precision, recall, f1 }, i) => ({
    value: label.classes[i] as ClassReport["value"],
    support,
    precision,
    recall,
    f1,
  }));
  return { rows: count, metrics: metricsOf(predictions), classes };
}

/** Returns 1 for each row of the split, of all rows in order. */
async function chosenRows(
  { rowCount, split: { indexes } }: DatasetManifest,
  split: SplitName | "all",
  objects: Pick<ObjectStore, "getContent">,
): Promise<Uint8Array> {
  const chosen = new Uint8Array(rowCount);
  if (split === "all") return chosen.fill(1);
  for (const row of decodeSplitIndex(await objects.getContent(indexes[split].sha256))) chosen[row] = 1;
  return chosen;
}

interface Options {
  readonly dataset: string;
  readonly split: string;
  readonly experiment: string;
  readonly record: boolean;
}

const splits = [...splitNames, "all"] as const;

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
