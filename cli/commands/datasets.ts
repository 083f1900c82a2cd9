import { basename } from "node:path";
import type { Command } from "commander";
import pc from "picocolors";
import { parseDatasetReference } from "../../core/datasets/reference";
import type { DatasetVersion, Deprecation } from "../../core/datasets/shapes";
import { formatBytes, formatCount } from "../../core/quantities";
import type { Warning } from "../../core/shapes";
import { contextOf, type GlobalOptions } from "../context";
import { contractCheck } from "../datasets/data-contract";
import { type PushProgress, pushDataset } from "../datasets/push";
import { schemaText } from "../datasets/schema-text";
import { printJson, printTable, shownText } from "../output";
import { createUploads } from "../uploads";
import { addDataContractCommands, printContractReport } from "./data-contracts";
import { addDriftCommand } from "./drift";
import { addInboxCommand } from "./inbox";

export function addDatasetCommands(program: Command): void {
  const datasets = program.command("datasets").description("push, list and deprecate immutable dataset versions");

  datasets
    .command("push <name>")
    .description("create a dataset version from a file; the same content gives the same version")
    .requiredOption("--file <file>", "CSV, Parquet or JSON file")
    .requiredOption("--schema <file>", "schema file: columns with type and role, and the split")
    .option("--allow-schema-change", "accept columns that differ from those of the newest version")
    .action(
      async (
        name: string,
        options: { file: string; schema: string; allowSchemaChange?: boolean },
        command: Command,
      ) => {
        const { client, json } = contextOf(command);
        const file = basename(options.file);
        const { registered, draft, ignoredColumns, warnings } = await pushDataset({
          name,
          file: options.file,
          schemaFile: options.schema,
          uploads: createUploads(client),
          check: contractCheck(client, name, file, (report) => !json && printContractReport(report, file)),
          register: (made, source, found) =>
            client.registerDataset(
              made,
              options.allowSchemaChange === true,
              [{ ...source, file, rows: made.rowCount }],
              found,
            ),
          onProgress: json ? undefined : showProgress(),
        });
        const { manifest } = registered.version;
        if (json)
          printJson({
            created: registered.created,
            ...manifest,
            deprecation: registered.version.deprecation,
            ignoredColumns,
            warnings,
          });
        else {
          const { deprecation } = registered.version;
          const known = deprecation ? `already exists, deprecated: ${deprecation.reason}` : "already exists";
          const word = registered.created ? "new version" : known;
          process.stdout.write(
            `${name}@${manifest.version} (${word}): ${formatCount(draft.rowCount, "row")}, ${formatCount(draft.shards.length, "shard")}, ${formatBytes(draft.bytes)}, digest ${draft.digest.slice(0, 12)}\n`,
          );
          if (ignoredColumns.length > 0)
            process.stdout.write(`columns not in the schema, ignored: ${ignoredColumns.join(", ")}\n`);
          printWarnings(warnings);
        }
      },
    );

  datasets
    .command("schema <file>")
    .description("print a suggested schema for a CSV, Parquet or JSON file, as YAML")
    .requiredOption("--label <column>", "column to predict")
    .action(async (file: string, options: { label: string }, command: Command) => {
      // DuckDB's library takes long to load: only commands that read data load it.
      const { inferColumns } = await import("../../adapters/duckdb/infer-schema");
      const { withDuckDb } = await import("../../adapters/duckdb/workspace");
      const columns = await withDuckDb((session) => inferColumns(session, file, options.label));
      if (command.optsWithGlobals<GlobalOptions>().json) printJson({ columns });
      else process.stdout.write(schemaText(file, columns));
    });

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
  addDataContractCommands(datasets);

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

function printWarnings(warnings: readonly Warning[]): void {
  for (const { message } of warnings) process.stdout.write(`${pc.yellow("warning")}: ${shownText(message)}\n`);
}

/** Shows one line that is updated on a terminal, and a line for each phase elsewhere. */
function showProgress(): (progress: PushProgress) => void {
  let last = "";
  return (progress) => {
    const text =
      progress.phase === "uploading"
        ? `uploading ${formatBytes(progress.knownBytes + progress.sentBytes)} of ${formatBytes(progress.bytes)}`
        : progress.phase;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progress.phase === "registering" ? "" : text}`);
    else if (progress.phase !== last) process.stderr.write(`${text}\n`);
    last = progress.phase;
  };
}
