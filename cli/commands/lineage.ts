import type { LineageGraph } from "../../api/lineage/shapes";
import { InvalidInputError } from "../../core/errors";
import type { Command } from "../command";
import { drawLineage } from "../lineage-tree";
import { modelVersionOf, parseReference } from "../model-reference";
import { printJson } from "../output";
import { referenceOf } from "../uploads";

export function addLineageCommand(program: Command): void {
  const lineage = program.command("lineage").description("trace lineage between raw files, datasets, runs and models");

  lineage
    .command("model <model>")
    .description("trace NAME (the one in production), NAME@3 or NAME@ALIAS back to run, code, data and raw rows")
    .handle(async ({ client, json }, reference: string) => {
      const { name, version } = await modelVersionOf(client, reference);
      show(await client.modelLineage(name, version), json);
    });

  lineage
    .command("dataset <dataset>")
    .description(
      "show the raw files of NAME@VERSION (or NAME, the newest version), and the runs and models that used it",
    )
    .option("--limit <n>", "maximum number of runs, at most 200", "50")
    .option("--next-token <token>", "continue an earlier list of runs")
    .handle(async ({ client, json }, reference: string, options: { limit: string; nextToken?: string }) => {
      const { name, version, alias } = parseReference(reference);
      if (alias !== undefined && alias !== "latest") {
        const rule = "must be NAME, NAME@VERSION or NAME@latest";
        throw new InvalidInputError("the lineage cannot be shown", [{ path: "dataset", value: reference, rule }]);
      }
      const number = version ?? (await client.dataset(name)).manifest.version;
      show(await client.datasetLineage(name, number, options), json);
    });

  lineage
    .command("file <file>")
    .description("show every dataset, run and model that used a raw file, given by path or SHA-256")
    .handle(async ({ client, json }, file: string) => {
      show(await client.contentLineage(/^[0-9a-f]{64}$/.test(file) ? file : await digestOf(file)), json);
    });
}

function show(graph: LineageGraph, json: boolean): void {
  if (json) printJson(graph);
  else process.stdout.write(`${drawLineage(graph).join("\n")}\n`);
}

async function digestOf(file: string): Promise<string> {
  try {
    return (await referenceOf(file)).sha256;
  } catch (cause) {
    const rule = "must be a readable file or a SHA-256";
    throw new InvalidInputError("the lineage cannot be shown", [{ path: "file", value: file, rule }], cause);
  }
}
