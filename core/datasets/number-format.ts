/**
 * A number format shows how a file writes 1234.5, or 1234: `1.234,5`, `$1,234.5`, `1234,5 %`. Groups have three digits,
 * and their separators may be absent. Each value has the text before and after the number. A format in parentheses,
 * `(1,234.5)`, or with a minus at its end, `1,234.5-`, shows how the file writes a negative number; others lack them.
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
  /** The pattern of a negative number without a minus in front. Its groups 1 to 3 after a minus are that number. */
  readonly negative?: string;
}

/** Patterns of negative numbers without a minus in front, by the mark at their end. */
export const negatives = { ")": "^([^(]*)[(](.*)[)](.*)$", "-": "^(.*)([0-9])-(.*)$" } as const;

/**
 * Returns how text in a format that breaks no rule becomes a plain number: replace a negative number by what its pattern
 * says, replace what matches the pattern (in RE2's syntax) as a whole by the groups 1 to 3, remove `group`, and replace
 * `decimal` by a point.
 */
export function numberReading(format: string): NumberReading {
  const [, written = "", group = "", shown, following = ""] = example.exec(format) ?? [];
  const mark = written.includes("(") && following.includes(")") ? ")" : following.includes("-") ? "-" : undefined;
  const before = mark === ")" ? written.replace("(", "") : written;
  const after = mark === undefined ? following : following.replace(mark, "");
  const decimal = shown ?? (group === "." ? "," : ".");
  const grouped = group === "" ? "" : `[1-9][0-9]{0,2}(?:${escaped(group)}[0-9]{3})+|`;
  const digits = `(?:${grouped}[0-9]+)(?:${escaped(decimal)}[0-9]*)?(?:[eE][+-]?[0-9]+)?`;
  const pattern = `([+-]?)${escaped(before)}([+-]?)(${digits})${escaped(after)}`;
  return { before, after, pattern, group, decimal, ...(mark === undefined ? {} : { negative: negatives[mark] }) };
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
