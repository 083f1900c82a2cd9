import Table from "cli-table3";
import pc from "picocolors";
import { describeProblem, InvalidInputError, type Problem, RingmasterError } from "../core/errors";
import type { Excerpt } from "../core/tracking/search/errors";
import { commandAfter } from "./next-command";

const gap = 2;
/** Minimum width of a truncated text. */
const minTextWidth = 10;
/** Matches times whose seconds may be omitted. */
const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/;
const toTheMinute = "2026-03-01 12:00".length;

interface FittedTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly left: readonly string[];
}

/**
 * Makes a table as narrow as a terminal: texts are truncated, the longest first; then columns are omitted, the last
 * first. Numbers are never truncated. The first column stays unchanged, because other commands need it.
 */
export function fitTable(head: readonly string[], rows: readonly (readonly string[])[], width: number): FittedTable {
  let columns = head.map((title, at) =>
    columnOf(
      title,
      rows.map((row) => row[at] ?? ""),
      at,
    ),
  );
  const left: string[] = [];
  for (;;) {
    const excess = columns.reduce((sum, column) => sum + column.width + gap, 0) - width;
    if (excess <= 0) break;
    const longest = columns.reduce((a, b) => (room(b) > 0 && b.width > (room(a) > 0 ? a.width : 0) ? b : a));
    if (room(longest) > 0) longest.width -= 1;
    else if (columns.length > 1) {
      left.unshift(columns.at(-1)!.title);
      columns = columns.slice(0, -1);
    } else break;
  }
  return {
    head: columns.map(({ title, width: maxWidth }) => ending(title, maxWidth)),
    rows: rows.map((_, at) => columns.map(({ cells, width: maxWidth }) => beginning(cells[at]!, maxWidth))),
    left,
  };
}

interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  /** Width of the content that must stay whole. */
  readonly minWidth: number;
  width: number;
}

function columnOf(title: string, cells: readonly string[], at: number): Column {
  const natural = Math.max(...[title, ...cells].map(widthOf));
  const kept = cells.filter((cell) => at === 0 || isNumber(cell) || cell.includes("\u001b"));
  const whole = Math.max(0, ...kept.map((cell) => (time.test(cell) ? toTheMinute : widthOf(cell))));
  return { title, cells, width: natural, minWidth: Math.max(whole, Math.min(natural, minTextWidth)) };
}

function room({ width, minWidth }: Column): number {
  return width - minWidth;
}

/** Matches amounts, times and durations with any unit. */
function isNumber(cell: string): boolean {
  return /^[+\-−$]?\d[\d.,:eE+\-− %]*(?:[a-zA-Z%]{1,3}(?: \d\d[a-z])?)?(?: [(*].*)?$/.test(cell);
}

function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room
  return [...text.replaceAll(/\u001b\[[\d;]*m/g, "")].length;
}

function beginning(text: string, maxWidth: number): string {
  if (widthOf(text) <= maxWidth) return text;
  if (time.test(text)) return text.slice(0, toTheMinute);
  return `${[...text.replaceAll("\n", " ")].slice(0, maxWidth - 1).join("")}…`;
}

/** Keeps the end of a dotted name, which is the most specific part. */
function ending(text: string, maxWidth: number): string {
  if (widthOf(text) <= maxWidth) return text;
  return `…${[...text].slice(1 - maxWidth).join("")}`;
}

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
    const described =
      error instanceof RingmasterError ? { code: error.code, details: error.details } : { code: "FAILED" };
    process.stdout.write(`${JSON.stringify({ error: { ...described, message: messageOf(error) } })}\n`);
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

function excerptOf(error: unknown): Excerpt | undefined {
  const { search } = ((error as RingmasterError).details ?? {}) as { readonly search?: { readonly excerpt?: Excerpt } };
  return search?.excerpt;
}

function messageOf(error: unknown): string {
  const next = error instanceof RingmasterError ? commandAfter(error) : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return next === undefined ? message : `${message.replace(/\.$/, "")}; ${next}`;
}

export function formatNumber(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(5))) : String(value);
}
