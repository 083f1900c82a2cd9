/** Space between columns. */
const gap = 2;
/** Minimum width of a truncated text. */
const minTextWidth = 10;
/** Matches times whose seconds may be omitted. */
const time = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d/;
const toTheMinute = "2026-03-01 12:00".length;

export interface FittedTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Titles of columns that do not fit. */
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
