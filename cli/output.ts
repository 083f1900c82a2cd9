import Table from "cli-table3";
import pc from "picocolors";
import { describeProblem, InvalidInputError, type Problem, RingmasterError } from "../core/errors";
import type { Excerpt } from "../core/tracking/search/errors";
import { fitTable } from "./fit-table";
import { commandAfter } from "./next-command";

/** Exit codes that a script can distinguish. */
export const exitCodes = {
  ok: 0,
  /** The run failed, or an operation failed. */
  failed: 1,
  /** The input is invalid; nothing was changed. */
  badInput: 2,
  /** The run completed, and a gate or a person refused its model. */
  notPromoted: 3,
  /** The request was valid, and the platform's rules refused its effect. */
  refused: 3,
  /** The reproduction completed with other weights. */
  different: 3,
  /** Ctrl-C ended the command, and the run continues: 128 and the signal's number, as in a shell. */
  interrupted: 130,
} as const;

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints a table that fits the terminal; without a terminal, at full width. */
export function printTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const { columns = Number.POSITIVE_INFINITY } = process.stdout;
  const fitted = fitTable(
    head.map(shownText),
    rows.map((row) => row.map((cell) => shownText(String(cell)))),
    columns,
  );
  const table = new Table({
    head: fitted.head.map((title) => pc.bold(title)),
    chars: plainBorders,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
  });
  for (const row of fitted.rows) table.push([...row]);
  process.stdout.write(`${table.toString()}\n`);
  if (fitted.left.length > 0) {
    const names = fitted.left.map((name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name));
    process.stdout.write(`columns hidden: ${names.join(", ")}; widen the terminal or use --json\n`);
  }
}

/** Removes control sequences of the terminal, because names and values come from anyone. Colours and line ends stay. */
export function shownText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these it is about
  return text.replaceAll(/\u001b(?!\[[\d;]*m)|[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g, "\ufffd");
}

/** Columns without boxes: easy to read, to copy and to cut. */
const plainBorders = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "",
};

/** Writes an error for a person (or a program, with `--json`), and returns its exit code. */
export function reportError(error: unknown, json: boolean): number {
  const code = exitCodeOf(error);
  if (json) {
    const known = error instanceof RingmasterError ? { code: error.code, details: error.details } : { code: "FAILED" };
    process.stdout.write(`${JSON.stringify({ error: { ...known, message: messageOf(error) } })}\n`);
  }
  const problems = problemsOf(error);
  if (problems) {
    const what = error instanceof InvalidInputError ? messageOf(error).split(": ")[0] : "the input is not valid";
    process.stderr.write(`${pc.red("error")}: ${what}\n`);
    for (const problem of problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
    const excerpt = excerptOf(error);
    if (excerpt) process.stderr.write(`\n    ${excerpt.line}\n    ${pc.red(excerpt.marks)}\n`);
  } else {
    process.stderr.write(`${pc.red("error")}: ${messageOf(error)}\n`);
    if (!(error instanceof RingmasterError) && process.env["RINGMASTER_DEBUG"]) console.error(error);
  }
  return code;
}

function exitCodeOf(error: unknown): number {
  if (!(error instanceof RingmasterError) || error.httpStatus >= 500) return exitCodes.failed;
  return error.code === "DATA_CONTRACT_VIOLATED" ? exitCodes.refused : exitCodes.badInput;
}

function problemsOf(error: unknown): readonly Problem[] | undefined {
  if (!(error instanceof RingmasterError) || error.code !== "INVALID_INPUT") return undefined;
  return (error.details as { problems?: readonly Problem[] } | undefined)?.problems;
}

/** Returns the place of the first problem in a filter or an order. */
function excerptOf(error: unknown): Excerpt | undefined {
  const { search } = ((error as RingmasterError).details ?? {}) as { readonly search?: { readonly excerpt?: Excerpt } };
  return search?.excerpt;
}

function messageOf(error: unknown): string {
  const next = error instanceof RingmasterError ? commandAfter(error) : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return next === undefined ? message : `${message.replace(/\.$/, "")}; ${next}`;
}

/** Formats five significant digits without trailing zeros. */
export function formatNumber(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(5))) : String(value);
}
