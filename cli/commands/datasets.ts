import type { DescribedRows } from "../../adapters/duckdb/describe-rows";
import { messageOf } from "../../adapters/duckdb/errors";
import type { ApiClient } from "../../client/api-client";
import { parseDatasetReference } from "../../core/datasets/repository";
import type { DatasetManifest, DatasetVersion, Deprecation } from "../../core/datasets/shapes";
import { formatBytes, formatCount } from "../../core/quantities";
import type { Command } from "../command";
import { describeVersion, printColumns, printPreview } from "../datasets/rows-view";
import { printJson, printTable, shownText } from "../output";
import { addDataContractCommands } from "./data-contracts";
import { addPushCommands, printWarnings } from "./dataset-push";
import { addDriftCommand } from "./drift";
import { addInboxCommand } from "./inbox";

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
