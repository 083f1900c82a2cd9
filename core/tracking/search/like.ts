import { anyOne, placesIn, type Segment, segmentOf } from "./segment";

/** Bounds the time of a match: 100,000 characters of text take about 3 million steps. */
const maxWithAnyOne = 1_000;

/** Returns the rule that a pattern breaks, or undefined. */
export function likeProblem(pattern: string): string | undefined {
  const parts = pattern.split("%").filter((part) => part.includes("_"));
  const characters = parts.reduce((sum, { length }) => sum + length, 0);
  return characters <= maxWithAnyOne
    ? undefined
    : `has ${characters} characters in its parts with _, but may have at most ${maxWithAnyOne}`;
}

/**
 * Returns a matcher of SQL's LIKE: `%` is any text, `_` any character; there is no escape. The pattern is split at `%`.
 * The first and the last segment are at the ends of the text. The others are found one after another, each at the first
 * place after the previous one. A segment without `_` takes linear time. A segment with `_` takes at most (places in
 * the text) × (its characters other than `_`) / 32 steps.
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
  const wanted = ignoreCase ? pattern.toLowerCase() : pattern;
  const cased = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (!/[%_]/.test(wanted)) return (text) => cased(text) === wanted;
  const parts = wanted.split("%");
  const segments = parts.map((part) => segmentOf(codesOf(part)));
  const withAnyOne = parts.filter((part) => part.includes("_"));
  const sought = new Set(withAnyOne.flatMap((part) => [...codesOf(part)].filter((code) => code !== anyOne)));
  return (text) => matches(segments, sought, codesOf(cased(text)));
}

function matches(segments: readonly Segment[], sought: ReadonlySet<number>, text: Uint32Array): boolean {
  const first = segments[0]!;
  const final = segments.at(-1)!;
  if (segments.length === 1) return text.length === first.length && first.isAt(text, 0);
  const to = text.length - final.length;
  if (to < first.length || !first.isAt(text, 0) || !final.isAt(text, to)) return false;
  const places = placesIn(text, sought);
  let end = first.length;
  for (const segment of segments.slice(1, -1)) {
    if (segment.length > 0) end = segment.endIn(text, end, to, places);
    if (end < 0) return false;
  }
  return true;
}

function codesOf(text: string): Uint32Array {
  const codes = new Uint32Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length; count += 1) {
    const code = text.codePointAt(i)!;
    codes[count] = code;
    i += code > 0xffff ? 2 : 1;
  }
  return codes.subarray(0, count);
}
