import pc from "picocolors";
import type { EvaluationTable } from "../api/report/evaluation-tables";
import { printTable } from "./output";

/** Prints a table of an evaluation after an empty line. */
export function printEvaluationTable({ title, note, head, rows, warning }: EvaluationTable): void {
  process.stdout.write(`\n${title.charAt(0).toLowerCase()}${title.slice(1)}${note === undefined ? "" : `: ${note}`}\n`);
  printTable(head, rows);
  if (warning !== undefined) process.stdout.write(`${pc.yellow("warning")}: ${warning}\n`);
}
