import { type Command, Option } from "commander";
import {
  type DriftReport,
  type DriftThresholds,
  driftThresholds,
  type Measurement,
  type ModelDriftReport,
  severities,
} from "../core/drift/shapes";
import { InvalidInputError } from "../core/errors";
import { driftHtml, numberText } from "../core/html/drift-html";
import { problemsOf } from "../core/problems";
import { numberOrText } from "./command";
import { exitCodes, printJson, printTable } from "./output";
import { writeReport } from "./write-file";

export interface DriftOptions {
  readonly html?: string;
  readonly level?: string;
  readonly distance?: string;
  readonly psi?: string;
  readonly failOn?: (typeof severities)[number];
}

/** Adds the options of a report of drift, with those of its measurement unless it is measured already. */
export function addDriftOptions(command: Command, isMeasured = true): Command {
  const shown = command
    .option("--html <file>", "write a self-contained HTML page with plots")
    .addOption(new Option("--fail-on <severity>", "exit with code 3 for drift of this severity").choices(severities));
  return isMeasured ? addThresholdOptions(shown) : shown;
}

export function addThresholdOptions(command: Command): Command {
  return command
    .option("--level <share>", "largest share of false findings (default: 0.01)")
    .option("--distance <distance>", "smallest distance of distributions that is reported (default: 0.05)")
    .option("--psi <index>", "stability index above which drift is critical (default: 0.2)");
}

export function thresholdsOf({ level, distance, psi }: DriftOptions): DriftThresholds {
  const thresholds = Object.entries({ level, distance, psi }).filter(([, text]) => text !== undefined);
  const read = Object.fromEntries(thresholds.map(([name, text = ""]) => [name, numberOrText(text)]));
  const parsed = driftThresholds.safeParse(read, { reportInput: true });
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error).map((problem) => ({ ...problem, path: `--${problem.path}` }));
  throw new InvalidInputError("the drift cannot be measured", problems);
}

/** Writes the page, prints the report and sets the exit code, as the options say. */
export function showDrift(report: DriftReport | ModelDriftReport, options: DriftOptions, json: boolean): void {
  if (options.html !== undefined) writeReport("--html", options.html, driftHtml(report, Date.now()).html);
  if (json) printJson(report);
  else printDrift(report);
  const { severity } = report;
  const { failOn } = options;
  if (severity && failOn && severities.indexOf(severity) >= severities.indexOf(failOn)) {
    process.exitCode = exitCodes.refused;
  }
}

function printDrift(report: DriftReport | ModelDriftReport): void {
  const { rows, severity, baseline } = report;
  const current = "model" in report ? `inferences of ${report.model}/${report.version}` : nameOf(report.current);
  process.stdout.write(
    `${current} (${rows.current} rows) against ${nameOf(baseline)} (${rows.baseline} rows): ${severity === undefined ? "no drift" : `${severity} drift`}\n\n`,
  );
  printMeasurement(report);
}

const nameOf = ({ name, version }: DriftReport["baseline"]) => `${name}@${version}`;

function printMeasurement({ schema, columns, multivariate }: Measurement): void {
  for (const { column, change, before, after, severity: found } of schema) {
    const types = [before, after].filter((type) => type !== undefined).join(" → ");
    process.stdout.write(`${found}: column ${column}: ${change === "type" ? "its type changed" : change} (${types})\n`);
  }
  if (multivariate) {
    const { auc, low, high, pValue, severity } = multivariate;
    process.stdout.write(
      `all columns together: ${severity ?? "no drift"}; a classifier's AUC is ${numberText(auc)}, 95 % CI [${numberText(low)}, ${numberText(high)}], p = ${numberText(pValue)}\n`,
    );
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
