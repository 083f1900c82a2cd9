/**
 * A number format shows how a file writes 1234.5, or 1234: `1.234,5`, `$1,234.5`, `1234,5 %`. Groups have three digits,
 * and their separators may be absent. Each value has the text before and after the number.
 */
const example = /^([^0-9+-]*?)1([.,'’ \u00a0\u202f]?)234(?:([.,])5)?([^0-9]*)$/u;
const ordinary: readonly string[] = ["1234", "1234.5"];

/** Returns the rule that a number's format breaks; `undefined` if it breaks none. */
export function numberFormatProblem(format: string): string | undefined {
  const [, before, group, decimal] = example.exec(format) ?? [];
  if (before === undefined || group === decimal || ordinary.includes(format))
    return "must show how the file writes 1234.5, e.g. 1.234,5 or 1234,5 or $1,234.5, in another way than 1234.5 itself";
  return undefined;
}

export interface NumberReading {
  /** The text before and after a number. */
  readonly before: string;
  readonly after: string;
  readonly pattern: string;
  readonly group: string;
  readonly decimal: string;
}

/**
 * Returns how text in a format that breaks no rule becomes a plain number: replace what matches the pattern (in RE2's
 * syntax) as a whole by the groups 1 to 3, remove `group`, and replace `decimal` by a point.
 */
export function numberReading(format: string): NumberReading {
  const [, before = "", group = "", shown, after = ""] = example.exec(format) ?? [];
  const decimal = shown ?? (group === "." ? "," : ".");
  const grouped = group === "" ? "" : `[1-9][0-9]{0,2}(?:${escaped(group)}[0-9]{3})+|`;
  const digits = `(?:${grouped}[0-9]+)(?:${escaped(decimal)}[0-9]*)?(?:[eE][+-]?[0-9]+)?`;
  const pattern = `([+-]?)${escaped(before)}([+-]?)(${digits})${escaped(after)}`;
  return { before, after, pattern, group, decimal };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
