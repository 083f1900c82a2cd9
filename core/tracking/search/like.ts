/** Bounds the time of a match: 100,000 characters of text take at most a tenth of a second. */
const maxWithAnyOne = 1_000;

/** `_`, or a half of a surrogate pair, which is a character by itself. */
const special = /[_\p{Surrogate}]/u;

export function likeProblem(pattern: string): string | undefined {
  const parts = pattern.split("%").filter((part) => special.test(part));
  const characters = parts.reduce((sum, { length }) => sum + length, 0);
  return characters <= maxWithAnyOne
    ? undefined
    : `has ${characters} characters in its parts with _, but may have at most ${maxWithAnyOne}`;
}

/**
 * Returns a matcher of SQL's LIKE: `%` is any text, `_` any character; there is no escape. The pattern is split at `%`,
 * and each part is sought from the end of the previous one on: one expression for the whole pattern would take a power of
 * the text's length.
 */
export function likeMatcher(pattern: string, ignoreCase: boolean): (text: string) => boolean {
  if (last?.pattern !== pattern || last.ignoreCase !== ignoreCase) {
    last = { pattern, ignoreCase, matches: newMatcher(pattern, ignoreCase) };
  }
  return last.matches;
}

/** The last pattern. A condition tests many texts with the same pattern. */
let last:
  | { readonly pattern: string; readonly ignoreCase: boolean; readonly matches: (text: string) => boolean }
  | undefined;

function newMatcher(pattern: string, ignoreCase: boolean): (text: string) => boolean {
  const cased = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const parts = cased(pattern).split("%");
  const ends = parts.map((part, at) => endOf(part, at === 0, at === parts.length - 1));
  return (text) => {
    const letters = cased(text);
    let from = 0;
    for (const end of ends) {
      from = end(letters, from);
      if (from < 0) return false;
    }
    return true;
  };
}

/** Returns the end of a part's first occurrence from a place on; -1 if there is none. */
function endOf(part: string, isFirst: boolean, isLast: boolean): (text: string, from: number) => number {
  if (special.test(part)) {
    const source = part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll("_", "[^]");
    const expression = new RegExp(isLast ? `${source}$` : source, isFirst ? "uy" : "ug");
    return (text, from) => {
      expression.lastIndex = from;
      return expression.test(text) ? expression.lastIndex : -1;
    };
  }
  return (text, from) => {
    const at = isLast ? text.length - part.length : isFirst ? 0 : text.indexOf(part, from);
    const isThere = at >= from && (at === 0 || !isFirst) && text.startsWith(part, at);
    return isThere ? at + part.length : -1;
  };
}
