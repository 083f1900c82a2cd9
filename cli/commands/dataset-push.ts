import pc from "picocolors";
import { parseImageSize as parseSize } from "../../adapters/duckdb/formats/image-header";
import { formatBytes, formatCount } from "../../core/quantities";
import type { Warning } from "../../core/shapes";
import type { Command } from "../command";
import type { GlobalOptions } from "../context";
import { pushTarget } from "../datasets/push";
import { type PushChoices, pushData, showProgress } from "../datasets/push-data";
import { withLocalSources } from "../datasets/remote-sources";
import { inferSchemaOf } from "../datasets/schema-file";
import { schemaText } from "../datasets/schema-text";
import { textPlan } from "../datasets/text-plan";
import { printJson, shownText } from "../output";
import { printContractReport } from "./data-contracts";

interface PushFlags extends PushChoices {
  readonly file: readonly string[];
}

export function addPushCommands(datasets: Command): void {
  datasets
    .command("push <name-or-source> [sources...]")
    .description("create a dataset version from files; the same content gives the same version")
    .repeatable("--file <source>", "file, folder, glob or URL, if the argument is the dataset's name")
    .option("--schema <file>", "schema file: columns with type and role, and the split (default: FILE's .schema.yaml)")
    .option("--label <column>", "column to predict; infers the schema file if there is none")
    .repeatable("--missing <tokens>", "texts that mean a missing value, separated by commas; for the inferred schema", {
      commas: true,
    })
    .option("--size <size>", "height and width to which images are converted, e.g. 32x32 or 32x32x3", parseSize)
    .option("--append", "add the file's rows to the newest version, by its schema; its stored rows are not sent again")
    .option("--allow-schema-change", "accept columns that differ from those of the newest version")
    .option("--dry-run", "check the rows as a push does, and change nothing")
    .option("--transform <text>", "what made the files, such as a script with its commit; lineage shows it")
    .handle(async ({ client, json }, argument: string, more: readonly string[], options: PushFlags) => {
      const { file, ...choices } = options;
      const target = pushTarget([argument, ...more], file);
      const { name } = target;
      const { registered, draft, ignoredColumns, warnings, profiles } = await pushData(client, target, choices, {
        onSource: json ? () => undefined : showSource,
        onProgress: json ? () => undefined : showProgress(choices.dryRun),
        onContract: (report, source) => !json && printContractReport(report, source),
      });
      const { manifest, deprecation } = registered.version;
      const { dryRun } = choices;
      if (json)
        return printJson({ created: registered.created, dryRun, ...manifest, deprecation, ignoredColumns, warnings });
      const state = deprecation ? `already exists, deprecated: ${deprecation.reason}` : "already exists";
      const word = registered.created ? `${dryRun ? "would be a " : ""}new version` : state;
      process.stdout.write(
        `${name}@${manifest.version} (${word}): ${formatCount(draft.rowCount, "row")}, ${formatCount(draft.shards.length, "shard")}, ${formatBytes(draft.bytes)}, digest ${draft.digest.slice(0, 12)}\n`,
      );
      if (ignoredColumns.length > 0) {
        process.stdout.write(`columns not in the schema, ignored: ${ignoredColumns.join(", ")}\n`);
      }
      printWarnings(warnings);
      const plan = profiles && textPlan(draft.schema, profiles);
      if (plan !== undefined)
        process.stdout.write(`a plan of all features that reads the texts, for the job file:\n${plan}`);
    });

  datasets
    .command("schema <sources...>")
    .description("print a suggested schema for files, as YAML")
    .option("--label <column>", "column to predict; images and texts have one")
    .option("--size <size>", "height and width to which images are converted, e.g. 32x32", parseSize)
    .repeatable("--missing <tokens>", "texts that mean a missing value, separated by commas", { commas: true })
    .action(async (sources: readonly string[], options: Omit<PushFlags, "file">, command: Command) => {
      const suggested = await withLocalSources(
        sources,
        (source) => showSource(`downloading ${source.replace(/\?.*$/, "")}`),
        (local) => inferSchemaOf(local, options.label, options.missing, options.size),
      );
      if (command.optsWithGlobals<GlobalOptions>().json) printJson(suggested);
      else process.stdout.write(schemaText(sources.join(" "), suggested));
    });
}

function showSource(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function printWarnings(warnings: readonly Warning[]): void {
  for (const { message } of warnings) process.stdout.write(`${pc.yellow("warning")}: ${shownText(message)}\n`);
}
