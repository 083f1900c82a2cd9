import { type Command, Option } from "commander";
import { driftHtml, numberText } from "../../api/pages/drift-html";
import type { ApiClient } from "../../client/api-client";
import { parseDatasetReference } from "../../core/datasets/reference";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { measureDrift } from "../../core/drift/measure";
import { type DriftReport, type DriftThresholds, driftThresholds } from "../../core/drift/shapes";
import { InvalidInputError } from "../../core/errors";
import { problemsOf } from "../../core/problems";
import { severities } from "../../core/retraining/rule";
import { contextOf } from "../context";
import { download } from "../download";
import { exitCodes, printJson, printTable } from "../output";
import { writeReport } from "../report-file";

interface Options {
  readonly html?: string;
  readonly level?: string;
  readonly distance?: string;
  readonly psi?: string;
  readonly failOn?: (typeof severities)[number];
}

/** Adds `datasets drift`, which measures the drift between two versions in this process. */
export function addDriftCommand(datasets: Command): void {
  datasets
    .command("drift <baseline> <current>")
    .description("measure how the rows of a version (NAME@2) differ from those of another one (NAME@1)")
    .option("--html <file>", "write a self-contained HTML page with plots")
    .option("--level <share>", "largest share of false findings (default: 0.01)")
    .option("--distance <distance>", "smallest distance of distributions that is reported (default: 0.05)")
    .option("--psi <index>", "stability index above which drift is critical (default: 0.2)")
    .addOption(new Option("--fail-on <severity>", "exit with code 3 for drift of this severity").choices(severities))
    .action(async (before: string, after: string, options: Options, command: Command) => {
      const { client, json } = contextOf(command);
      const thresholds = thresholdsOf(options);
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
      if (options.html !== undefined) writeReport("--html", options.html, driftHtml(report, Date.now()).html);
      if (json) printJson(report);
      else printDrift(report);
      const { severity } = report;
      const { failOn } = options;
      if (severity && failOn && severities.indexOf(severity) >= severities.indexOf(failOn)) {
        process.exitCode = exitCodes.refused;
      }
    });
}

async function manifestOf(client: ApiClient, reference: string): Promise<DatasetManifest> {
  const { name, version } = parseDatasetReference(reference);
  return (await client.dataset(name, version)).manifest;
}

/** @throws InvalidInputError with every problem */
function thresholdsOf({ level, distance, psi }: Options): DriftThresholds {
  const given = Object.entries({ level, distance, psi }).filter(([, text]) => text !== undefined);
  const parsed = driftThresholds.safeParse(Object.fromEntries(given.map(([name, text]) => [name, Number(text)])));
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error).map((problem) => ({ ...problem, path: `--${problem.path}` }));
  throw new InvalidInputError("the drift cannot be measured", problems);
}

function printDrift({ baseline, current, rows, schema, columns, severity }: DriftReport): void {
  const nameOf = ({ name, version }: DriftReport["baseline"]) => `${name}@${version}`;
  process.stdout.write(
    `${nameOf(current)} (${rows.current} rows) against ${nameOf(baseline)} (${rows.baseline} rows): ${severity === undefined ? "no drift" : `${severity} drift`}\n\n`,
  );
  for (const { column, change, before, after, severity: found } of schema) {
    const types = [before, after].filter((type) => type !== undefined).join(" → ");
    process.stdout.write(`${found}: column ${column}: ${change === "type" ? "its type changed" : change} (${types})\n`);
  }
  const missing = ({ rows: all, missing: none }: { rows: number; missing: number }) =>
    `${numberText(all === 0 ? 0 : (100 * none) / all)} %`;
  printTable(
    ["COLUMN", "ROLE", "DRIFT", "PSI", "JS", "DISTANCE", "ADJUSTED P", "MISSING"],
    [...columns]
      .sort((one, other) => other.psi - one.psi)
      .map((one) => [
        ...[one.column, one.role, one.severity ?? "–", numberText(one.psi), numberText(one.js)],
        ...[numberText(one.distance), numberText(one.adjustedPValue)],
        `${missing(one.baseline)} → ${missing(one.current)}`,
      ]),
  );
}
