import pc from "picocolors";
import { type ContractReport, describeViolation, violationsOf } from "../../core/datasets/contract/report";
import { parseDatasetReference } from "../../core/datasets/repository";
import { InvalidInputError } from "../../core/errors";
import { contractHtml } from "../../core/html/contract-html";
import { formatCount } from "../../core/quantities";
import { type Command, wholeNumber } from "../command";
import { contextOf } from "../context";
import {
  type ChosenContract,
  checkFile,
  checkVersion,
  contentsOf,
  currentContract,
  readContractFile,
} from "../datasets/data-contract";
import { withLocalSources } from "../datasets/remote-sources";
import { contractText, inferContract } from "../datasets/suggest-contract";
import { exitCodes, printJson, printTable, shownText } from "../output";
import { assertKeepsInputs, writeReport } from "../write-file";

interface ValidateOptions {
  readonly contract?: string;
  readonly file?: string;
  readonly schema?: string;
  readonly html?: string;
}

export function addDataContractCommands(datasets: Command): void {
  datasets
    .command("validate [reference]")
    .description("check a version (NAME or NAME@3) or a local file against a data contract; exit code 3 if it blocks")
    .option("--contract <file>", "contract file (default: the dataset's current contract)")
    .option("--file <file>", "check a file, folder, glob or URL, as for push, instead of a version")
    .option("--schema <file>", "schema file for --file")
    .option("--html <file>", "write a self-contained HTML page")
    .action(validate);

  datasets
    .command("infer-contract <reference>")
    .description("print a suggested data contract for a version (NAME or NAME@3), as YAML")
    .handle(async ({ client, json }, reference: string) => {
      const { name, version } = parseDatasetReference(reference);
      const { manifest } = await client.dataset(name, version);
      const { profileColumns } = await import("../../adapters/duckdb/profile");
      const { quoteText } = await import("../../adapters/duckdb/session");
      const { fetchAllShards } = await import("../../adapters/duckdb/shard-source");
      const { withDuckDb } = await import("../../adapters/duckdb/workspace");
      const columns = await withDuckDb(async (session) => {
        const files = await fetchAllShards(session, contentsOf(client), manifest);
        const table = `read_parquet([${files.map(quoteText).join(", ")}])`;
        return profileColumns(session, table, manifest.schema, manifest.rowCount);
      });
      const { contract, omitted } = inferContract(manifest.schema, columns, manifest.rowCount);
      if (omitted > 0)
        process.stderr.write(`${omitted} rules, mostly of statistics, are left out: a contract has no room\n`);
      if (json) printJson(contract);
      else process.stdout.write(contractText(contract, `Suggested from ${name}@${manifest.version}: check each rule.`));
    });

  addStoredContractCommands(datasets.command("contract").description("set and show the data contract of a dataset"));
}

async function validate(reference: string | undefined, options: ValidateOptions, command: Command): Promise<void> {
  const { file, schema, contract } = options;
  assertKeepsInputs("--html", options.html, { "--file": file, "--schema": schema, "--contract": contract });
  const { client, json } = contextOf(command);
  const now = Date.now();
  const at = new Date(now).toISOString();
  const { name, version } = reference === undefined ? {} : parseDatasetReference(reference);
  const chosen = async (): Promise<ChosenContract> => {
    if (options.contract !== undefined) return { contract: readContractFile(options.contract) };
    const record = name === undefined ? undefined : await currentContract(client, name);
    if (record) return record;
    const rule =
      name === undefined ? "is required without the name of a dataset" : `is required: ${name} has no contract`;
    throw new InvalidInputError("there is nothing to check", [{ path: "--contract", rule }]);
  };
  let report: ContractReport;
  if (options.file !== undefined) {
    if (options.schema === undefined) throw invalidOption("--schema", "is required for --file");
    if (version !== undefined) throw invalidOption("reference", "must have no version if a file is checked", reference);
    const contract = await chosen();
    const { file, schema: schemaFile } = options;
    report = await withLocalSources(
      [file],
      () => undefined,
      (files) => checkFile(client, { files, schemaFile, name }, contract, at),
    );
  } else {
    if (name === undefined) throw invalidOption("reference", "is required, or --file");
    if (options.schema !== undefined) throw invalidOption("--schema", "is for --file", options.schema);
    report = await checkVersion(client, await client.dataset(name, version), await chosen(), at);
  }
  const what = options.file ?? `${report.dataset.name}@${report.dataset.version}`;
  if (options.html !== undefined) writeReport("--html", options.html, contractHtml(report, what, now).html);
  if (json) printJson(report);
  else printContractReport(report, what);
  if (report.status === "blocked") process.exitCode = exitCodes.refused;
}

function invalidOption(path: string, rule: string, value?: unknown): InvalidInputError {
  return new InvalidInputError("the rows cannot be validated", [{ path, rule, value }]);
}

export function printContractReport(report: ContractReport, what: string): void {
  const { status, rows, outcomes } = report;
  const violations = violationsOf(report);
  const counted = `${formatCount(rows, "row")}, ${formatCount(outcomes.length, "rule")}`;
  const result = violations.length === 0 ? "no violation" : formatCount(violations.length, "violation");
  process.stdout.write(`${shownText(what)}: ${status} (${counted}, ${result})\n`);
  for (const outcome of violations) {
    const word = outcome.severity === "block" ? pc.red("block") : pc.yellow("warn");
    process.stdout.write(`${word}: ${shownText(describeViolation({ ...outcome, samples: [] }, rows))}\n`);
    for (const { row, values } of outcome.samples) {
      const shown = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
      process.stdout.write(`  row ${row}: ${shownText(shown.join(", "))}\n`);
    }
  }
}

function addStoredContractCommands(contract: Command): void {
  contract
    .command("set <name>")
    .description("set the contract that every later version must satisfy")
    .requiredOption("--file <file>", "contract file (YAML)")
    .option("--reason <text>", "reason, for the history", "")
    .option(
      "--if-revision <number>",
      "change only this revision; 0: only set the first one",
      wholeNumber("--if-revision"),
    )
    .handle(async ({ client, json }, name: string, options: { file: string; reason: string; ifRevision?: number }) => {
      const contract = readContractFile(options.file);
      const { reason, ifRevision } = options;
      const { created, record } = await client.setDataContract(name, { contract, reason, ifRevision });
      if (json) printJson({ created, ...record });
      else {
        const word = created ? "new" : "unchanged";
        process.stdout.write(
          `${name}: revision ${record.revision} (${word}), ${formatCount(record.contract.rules.length, "rule")}\n`,
        );
      }
    });

  contract
    .command("show <name>")
    .description("print a dataset's contract as YAML")
    .option("--revision <number>", "an earlier revision", wholeNumber("--revision"))
    .handle(async ({ client, json }, name: string, options: { revision?: number }) => {
      const record = await client.dataContract(name, options.revision);
      if (json) printJson(record);
      else {
        const title = `Contract of ${name}, revision ${record.revision}, set by ${record.by} at ${record.at}`;
        process.stdout.write(shownText(contractText(record.contract, title)));
      }
    });

  contract
    .command("history <name>")
    .description("list the revisions of a dataset's contract, newest first")
    .handle(async ({ client, json }, name: string) => {
      const records = await client.dataContracts(name);
      if (json) printJson({ contracts: records });
      else {
        printTable(
          ["REVISION", "RULES", "SET", "BY", "REASON"],
          records.map((one) => [one.revision, one.contract.rules.length, one.at, one.by, one.reason ?? ""]),
        );
      }
    });
}
