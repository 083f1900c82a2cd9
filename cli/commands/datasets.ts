import type { DescribedRows } from "../../adapters/duckdb/describe-rows";
import { messageOf } from "../../adapters/duckdb/errors";
import type { ApiClient } from "../../client/api-client";
import type { InboxReport } from "../../core/datasets/inbox/shapes";
import { parseDatasetReference } from "../../core/datasets/repository";
import type { DatasetManifest, DatasetVersion, Deprecation } from "../../core/datasets/shapes";
import { measureDrift } from "../../core/drift/measure";
import { formatBytes, formatCount } from "../../core/quantities";
import type { Command } from "../command";
import { contextOf } from "../context";
import { describeVersion, printColumns, printPreview } from "../datasets/described-rows";
import { download } from "../download";
import { addDriftOptions, type DriftOptions, showDrift, thresholdsOf } from "../drift-report";
import { printJson, printTable, shownText } from "../output";
import { addDataContractCommands } from "./data-contracts";
import { addPushCommands, printWarnings } from "./dataset-push";

function addDriftCommand(datasets: Command): void {
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

function addInboxCommand(datasets: Command): void {
  datasets
    .command("inbox [name]")
    .description("show the status of the files in the team's inbox, or in one dataset's inbox")
    .option("--retry <id>", "read a refused file again, without a new upload")
    .handle(async ({ client, json, print }, name: string | undefined, options: { retry?: string }) => {
      if (options.retry !== undefined) {
        const report = await client.retryInboxFile(options.retry);
        print({ report }, `reading ${report.path} again`);
        return;
      }
      const reports = await client.inbox(name);
      if (json) printJson({ reports });
      else showReports(reports);
    });
}

function showReports(reports: readonly InboxReport[]): void {
  printTable(
    ["ID", "FILE", "SIZE", "RECEIVED", "STATUS", "RESULT"],
    reports.map((one) => [one.id, one.path, formatBytes(one.bytes), one.putAt, one.status, outcomeOf(one)]),
  );
  for (const { status, id, path, reason, nextStep } of reports) {
    if (status !== "refused") continue;
    process.stdout.write(`\n${path} (${id})\n  reason  ${reason}\n  next    ${nextStep}\n`);
  }
}

function outcomeOf({ dataset, version, created, ignoredColumns, code, lastError }: InboxReport): string {
  if (version !== undefined) {
    const left = ignoredColumns ? `, without ${ignoredColumns.join(", ")}` : "";
    return `${dataset}@${version}${created ? "" : " (already existed)"}${left}`;
  }
  return code ?? (lastError ? `last attempt: ${lastError}` : "");
}

export function addDatasetCommands(program: Command): void {
  const datasets = program.command("datasets").description("push, list and deprecate immutable dataset versions");

  addPushCommands(datasets);

  datasets
    .command("list")
    .description("list datasets")
    .handle(async ({ client, json }) => {
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
    .option("--no-profile", "show the record alone, without reading rows")
    .option("--all", "profile all rows (default: those of the first shards, up to 64 MiB)")
    .handle(async ({ client, json }, reference: string, options: { profile: boolean; all?: boolean }) => {
      const { name, version } = parseDatasetReference(reference);
      const [shown, versions] = await Promise.all([client.dataset(name, version), client.datasetVersions(name)]);
      const described = options.profile ? await tryToDescribe(client, shown.manifest, options.all === true) : undefined;
      if (json) printJson({ version: shown, versions, ...described });
      else show(shown, versions, described);
    });

  addInboxCommand(datasets);
  addDriftCommand(datasets);
  addDataContractCommands(datasets);

  datasets
    .command("deprecate <reference>")
    .description("prevent new runs from using a version; the version stays readable")
    .option("--reason <text>", "reason for the deprecation", "")
    .handle(async ({ client, print }, reference: string, options: { reason: string }) => {
      const { name, version } = parseDatasetReference(reference);
      const target = version ?? (await client.dataset(name)).manifest.version;
      const deprecated = await client.deprecateDataset(name, target, options.reason);
      print({ version: deprecated }, `${name}@${target} is deprecated`);
    });
}

/** The record is shown even if its rows cannot be read. */
async function tryToDescribe(
  client: ApiClient,
  manifest: DatasetManifest,
  all: boolean,
): Promise<{ readonly profile: DescribedRows } | { readonly unreadable: string }> {
  try {
    return { profile: await describeVersion(client, manifest, all) };
  } catch (error) {
    return { unreadable: messageOf(error).split("\n")[0]! };
  }
}

function show(
  version: DatasetVersion,
  versions: readonly DatasetVersion[],
  described: Awaited<ReturnType<typeof tryToDescribe>> | undefined,
): void {
  const profile = described && "profile" in described ? described.profile : undefined;
  const { manifest } = version;
  process.stdout.write(
    `${manifest.name}@${manifest.version}  ${formatCount(manifest.rowCount, "row")}  ${formatBytes(manifest.bytes)}\n`,
  );
  process.stdout.write(`digest ${manifest.digest}\nschema ${manifest.schemaHash}\n`);
  printWarnings(version.warnings ?? []);
  process.stdout.write(
    `created ${manifest.createdAt}${version.createdBy ? ` by ${shownText(version.createdBy)}` : ""}\n`,
  );
  process.stdout.write(`files   ringmaster lineage dataset ${manifest.name}@${manifest.version}\n`);
  if (described && "unreadable" in described) {
    printWarnings([{ code: "UNREADABLE", message: `the rows cannot be read: ${described.unreadable}` }]);
  }
  process.stdout.write("\n");
  printColumns(manifest, profile);
  if (profile) {
    process.stdout.write("\n");
    printPreview(manifest, profile);
  }
  const { indexes, seed, stratifyBy, by, column } = manifest.split;
  const rule = by ? `, by ${by} ${column}` : stratifyBy ? `, by ${stratifyBy}` : "";
  process.stdout.write(
    `\nsplit (seed ${seed}${rule}): train ${indexes.train.rows}, validation ${indexes.validation.rows}, test ${indexes.test.rows}\n\n`,
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
