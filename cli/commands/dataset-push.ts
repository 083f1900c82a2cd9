import type { Command } from "commander";
import pc from "picocolors";
import { parseImageSize as parseSize, type TargetSize } from "../../adapters/duckdb/formats/image-header";
import type { ApiClient } from "../../client/api-client";
import type { DatasetDraft, SourceFile } from "../../core/datasets/shapes";
import { InvalidInputError } from "../../core/errors";
import { formatBytes, formatCount } from "../../core/quantities";
import type { Warning } from "../../core/shapes";
import { contextOf, type GlobalOptions } from "../context";
import { contractCheck } from "../datasets/data-contract";
import {
  appendToDataset,
  assertName,
  type PushProgress,
  type PushTarget,
  pushDataset,
  pushTarget,
} from "../datasets/push";
import { withLocalSources } from "../datasets/remote-sources";
import { inferSchemaOf, provideSchemaFile } from "../datasets/schema-file";
import { schemaText } from "../datasets/schema-text";
import { download } from "../download";
import { printJson, shownText } from "../output";
import { createUploads } from "../uploads";
import { printContractReport } from "./data-contracts";

interface PushFlags {
  readonly file: readonly string[];
  readonly schema?: string;
  readonly label?: string;
  readonly missing?: readonly string[];
  readonly allowSchemaChange?: boolean;
  readonly append?: boolean;
  readonly size?: TargetSize;
}

/** Adds `datasets push` and `datasets schema`. */
export function addPushCommands(datasets: Command): void {
  datasets
    .command("push <name-or-source> [sources...]")
    .description("create a dataset version from files; the same content gives the same version")
    .option(
      "--file <source>",
      "file, folder, glob or URL, if the argument is the dataset's name; repeatable",
      collect,
      [],
    )
    .option("--schema <file>", "schema file: columns with type and role, and the split (default: FILE's .schema.yaml)")
    .option("--label <column>", "column to predict; infers the schema file if there is none")
    .option(
      "--missing <tokens>",
      "texts that mean a missing value, separated by commas; for the inferred schema",
      tokensOf,
    )
    .option("--size <size>", "height and width to which images are converted, e.g. 32x32 or 32x32x3", parseSize)
    .option("--append", "add the file's rows to the newest version, by its schema; its stored rows are not sent again")
    .option("--allow-schema-change", "accept columns that differ from those of the newest version")
    .action(async (argument: string, more: readonly string[], options: PushFlags, command: Command) => {
      const { client, json } = contextOf(command);
      const target = pushTarget([argument, ...more], options.file);
      const { name, sources } = target;
      const shown = nameOfSources(sources);
      const onDownload = json ? () => undefined : showDownload;
      const shared = {
        name,
        size: options.size,
        uploads: createUploads(client),
        check: contractCheck(client, name, shown, (report) => !json && printContractReport(report, shown)),
        register: (made: DatasetDraft, files: readonly SourceFile[], found: readonly Warning[]) =>
          client.registerDataset(made, options.allowSchemaChange === true, files, found),
        onProgress: json ? undefined : showProgress(),
      };
      const { registered, draft, ignoredColumns, warnings } = await withLocalSources(
        sources,
        onDownload,
        async (file) =>
          options.append
            ? appendToDataset({ ...shared, file, append: await parentOf(client, name, options) })
            : pushDataset({
                ...shared,
                file,
                schemaFile: await schemaFileOf(options, { ...target, named: sources, sources: file }),
              }),
      );
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
    .command("schema <sources...>")
    .description("print a suggested schema for files, as YAML")
    .option("--label <column>", "column to predict; images and texts have one")
    .option("--size <size>", "height and width to which images are converted, e.g. 32x32", parseSize)
    .option("--missing <tokens>", "texts that mean a missing value, separated by commas", tokensOf)
    .action(async (sources: readonly string[], options: Omit<PushFlags, "file">, command: Command) => {
      const suggested = await withLocalSources(sources, showDownload, (local) =>
        inferSchemaOf(local, options.label, options.missing, options.size),
      );
      if (command.optsWithGlobals<GlobalOptions>().json) printJson(suggested);
      else process.stdout.write(schemaText(sources.join(" "), suggested));
    });
}

async function schemaFileOf(
  options: PushFlags,
  target: PushTarget & { readonly named: readonly string[] },
): Promise<string> {
  const { schemaFile, created } = await provideSchemaFile({ ...options, ...target });
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

function showDownload(source: string): void {
  process.stderr.write(`downloading ${source.replace(/\?.*$/, "")}\n`);
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Names the sources in a report: `sales.csv`, `data/*.csv and 2 more`. */
function nameOfSources([first = "", ...more]: readonly string[]): string {
  const name = /[*?[]/.test(first) ? first : (first.split(/[/\\]/).filter(Boolean).at(-1) ?? first);
  return more.length === 0 ? name : `${name} and ${more.length} more`;
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
