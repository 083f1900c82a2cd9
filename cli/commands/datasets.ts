import type { Command } from "commander";
import { parseDatasetReference } from "../../core/datasets/reference";
import type { DatasetVersion, Deprecation } from "../../core/datasets/shapes";
import { formatBytes, formatCount } from "../../core/quantities";
import { contextOf } from "../context";
import { printJson, printTable } from "../output";
import { addPushCommands, printWarnings } from "./dataset-push";
import { addDriftCommand } from "./drift";
import { addInboxCommand } from "./inbox";

export function addDatasetCommands(program: Command): void {
  const datasets = program.command("datasets").description("push, list and deprecate immutable dataset versions");

  addPushCommands(datasets);

  datasets
    .command("list")
    .description("list datasets")
    .action(async (_options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const items = await client.datasets();
      if (json) printJson({ datasets: items });
      else {
        printTable(
          ["NAME", "LATEST", "ROWS", "SIZE", "UPDATED", "BY"],
          items.map((one) => [
            one.name,
            one.latestVersion,
            one.rowCount,
            formatBytes(one.bytes),
            one.updatedAt,
            one.updatedBy ?? "–",
          ]),
        );
      }
    });

  datasets
    .command("show <reference>")
    .description("show a version (NAME or NAME@3) and list the other versions")
    .action(async (reference: string, _options: unknown, command: Command) => {
      const { client, json } = contextOf(command);
      const { name, version } = parseDatasetReference(reference);
      const [shown, versions] = await Promise.all([client.dataset(name, version), client.datasetVersions(name)]);
      if (json) printJson({ version: shown, versions });
      else show(shown, versions);
    });

  addInboxCommand(datasets);
  addDriftCommand(datasets);

  datasets
    .command("deprecate <reference>")
    .description("prevent new runs from using a version; the version stays readable")
    .option("--reason <text>", "reason for the deprecation", "")
    .action(async (reference: string, options: { reason: string }, command: Command) => {
      const { client, json } = contextOf(command);
      const { name, version } = parseDatasetReference(reference);
      const target = version ?? (await client.dataset(name)).manifest.version;
      const deprecated = await client.deprecateDataset(name, target, options.reason);
      if (json) printJson({ version: deprecated });
      else process.stdout.write(`${name}@${target} is deprecated\n`);
    });
}

function show(version: DatasetVersion, versions: readonly DatasetVersion[]): void {
  const { manifest } = version;
  process.stdout.write(
    `${manifest.name}@${manifest.version}  ${formatCount(manifest.rowCount, "row")}  ${formatBytes(manifest.bytes)}\n`,
  );
  process.stdout.write(`digest ${manifest.digest}\nschema ${manifest.schemaHash}\n`);
  printWarnings(version.warnings ?? []);
  process.stdout.write("\n");
  printTable(
    ["COLUMN", "TYPE", "ROLE"],
    manifest.schema.map((column) => [
      column.name,
      column.shape ? `${column.type}[${column.shape}]` : column.type,
      column.role,
    ]),
  );
  const { indexes, seed, stratifyBy } = manifest.split;
  process.stdout.write(
    `\nsplit (seed ${seed}${stratifyBy ? `, by ${stratifyBy}` : ""}): train ${indexes.train.rows}, validation ${indexes.validation.rows}, test ${indexes.test.rows}\n\n`,
  );
  printTable(
    ["VERSION", "ROWS", "CREATED", "BY", "STATE"],
    versions.map(({ manifest: one, createdBy, deprecation }) => [
      one.version,
      one.rowCount,
      one.createdAt,
      createdBy ?? "–",
      deprecation ? describeDeprecation(deprecation) : "active",
    ]),
  );
}

/** Formats `deprecated by ada at 2026-01-01T00:00:00.000Z: labels swapped`. */
function describeDeprecation({ at, reason, by }: Deprecation): string {
  return `deprecated${by ? ` by ${by}` : ""} at ${at}${reason ? `: ${reason}` : ""}`;
}
