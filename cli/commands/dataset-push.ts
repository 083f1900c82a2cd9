import { basename } from "node:path";
import type { Command } from "commander";
import pc from "picocolors";
import type { ApiClient } from "../../client/api-client";
import type { DatasetDraft } from "../../core/datasets/shapes";
import { InvalidInputError } from "../../core/errors";
import { formatBytes, formatCount } from "../../core/quantities";
import type { ContentReference, Warning } from "../../core/shapes";
import { contextOf, type GlobalOptions } from "../context";
import { contractCheck } from "../datasets/data-contract";
import { appendToDataset, assertName, type PushProgress, pushDataset, pushTarget } from "../datasets/push";
import { inferSchemaOf, provideSchemaFile } from "../datasets/schema-file";
import { schemaText } from "../datasets/schema-text";
import { download } from "../download";
import { printJson, shownText } from "../output";
import { createUploads } from "../uploads";
import { printContractReport } from "./data-contracts";

interface PushFlags {
  readonly file?: string;
  readonly schema?: string;
  readonly label?: string;
  readonly missing?: readonly string[];
  readonly allowSchemaChange?: boolean;
  readonly append?: boolean;
}

/** Adds `datasets push` and `datasets schema`. */
export function addPushCommands(datasets: Command): void {
  datasets
    .command("push <name-or-file>")
    .description("create a dataset version from a file; the same content gives the same version")
    .option("--file <file>", "CSV, Parquet or JSON file, if the argument is the dataset's name")
    .option("--schema <file>", "schema file: columns with type and role, and the split (default: FILE's .schema.yaml)")
    .option("--label <column>", "column to predict; infers the schema file if there is none")
    .option(
      "--missing <tokens>",
      "texts that mean a missing value, separated by commas; for the inferred schema",
      tokensOf,
    )
    .option("--append", "add the file's rows to the newest version, by its schema; its stored rows are not sent again")
    .option("--allow-schema-change", "accept columns that differ from those of the newest version")
    .action(async (argument: string, options: PushFlags, command: Command) => {
      const { client, json } = contextOf(command);
      const { name, file } = pushTarget(argument, options.file);
      const shared = {
        name,
        file,
        uploads: createUploads(client),
        check: contractCheck(
          client,
          name,
          basename(file),
          (report) => !json && printContractReport(report, basename(file)),
        ),
        register: (made: DatasetDraft, source: ContentReference, found: readonly Warning[]) =>
          client.registerDataset(
            made,
            options.allowSchemaChange === true,
            [{ ...source, file: basename(file), rows: made.rowCount - (made.parent?.rows ?? 0) }],
            found,
          ),
        onProgress: json ? undefined : showProgress(),
      };
      const { registered, draft, ignoredColumns, warnings } = options.append
        ? await appendToDataset({ ...shared, append: await parentOf(client, name, options) })
        : await pushDataset({ ...shared, schemaFile: await schemaFileOf(options, file) });
      const { manifest, deprecation } = registered.version;
      if (json) {
        printJson({ created: registered.created, ...manifest, deprecation, ignoredColumns, warnings });
        return;
      }
      const known = deprecation ? `already exists, deprecated: ${deprecation.reason}` : "already exists";
      const word = registered.created ? "new version" : known;
      process.stdout.write(
        `${name}@${manifest.version} (${word}): ${formatCount(draft.rowCount, "row")}, ${formatCount(draft.shards.length, "shard")}, ${formatBytes(draft.bytes)}, digest ${draft.digest.slice(0, 12)}\n`,
      );
      if (ignoredColumns.length > 0) {
        process.stdout.write(`columns not in the schema, ignored: ${ignoredColumns.join(", ")}\n`);
      }
      printWarnings(warnings);
    });

  datasets
    .command("schema <file>")
    .description("print a suggested schema for a CSV, Parquet or JSON file, as YAML")
    .requiredOption("--label <column>", "column to predict")
    .option("--missing <tokens>", "texts that mean a missing value, separated by commas", tokensOf)
    .action(async (file: string, options: { label: string; missing?: readonly string[] }, command: Command) => {
      const suggested = await inferSchemaOf(file, options.label, options.missing);
      if (command.optsWithGlobals<GlobalOptions>().json) printJson(suggested);
      else process.stdout.write(schemaText(file, suggested));
    });
}

async function schemaFileOf(options: PushFlags, file: string): Promise<string> {
  const { schemaFile, created } = await provideSchemaFile({ ...options, file });
  if (created) process.stderr.write(`schema written to ${schemaFile}: check it, and push again after a change\n`);
  return schemaFile;
}

/** @throws InvalidInputError if options name another schema than the newest version's */
async function parentOf(client: ApiClient, name: string, options: PushFlags) {
  assertName(name);
  const given = (["schema", "label", "missing", "allowSchemaChange"] as const).filter(
    (key) => options[key] !== undefined,
  );
  if (given.length > 0) {
    const rule = "must be left out with --append: the rows are read by the schema of the newest version";
    const names = {
      schema: "--schema",
      label: "--label",
      missing: "--missing",
      allowSchemaChange: "--allow-schema-change",
    };
    throw new InvalidInputError(
      "the rows cannot be appended",
      given.map((key) => ({ path: names[key], rule })),
    );
  }
  const contents = { getContent: (sha256: string) => download(client, sha256) };
  return { version: await client.dataset(name), contents };
}

/** Splits `NA,?`. */
function tokensOf(text: string): readonly string[] {
  return text
    .split(",")
    .map((token) => token.trim())
    .filter((token) => token !== "");
}

export function printWarnings(warnings: readonly Warning[]): void {
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
