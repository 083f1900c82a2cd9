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

/** Code points. */
export type Codes = ArrayLike<number>;

/** A part of a LIKE pattern without `%`: characters, and `_` for any one character. */
interface Segment {
  readonly length: number;
  /** Returns whether the segment is at this place of the text. */
  readonly isAt: (text: Codes, at: number) => boolean;
  /** Returns the end of the first occurrence in text[from, to); -1 if there is none. */
  readonly endIn: (text: Codes, from: number, to: number, places: Places) => number;
}

/** Returns the places of a character in the text as bits; `undefined` if the text does not have it. */
export type Places = (code: number) => ArrayLike<number> | undefined;

const anyOne = "_".charCodeAt(0);

const wordBits = 32;
/** Number of 32-bit words of places that are tested together. */
const blockWords = 32;

export function segmentOf(codes: Codes): Segment {
  const { length } = codes;
  const literals = Array.from(codes, (code, offset) => ({ code, offset })).filter(({ code }) => code !== anyOne);
  return {
    length,
    isAt: (text, at) => literals.every(({ code, offset }) => text[at + offset] === code),
    endIn: literals.length === length ? literalSearch(codes) : placeSearch(length, literals),
  };
}

/** Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977: reads each character of the text once. */
function literalSearch(codes: Codes): Segment["endIn"] {
  const { length } = codes;
  /** For each number of matching characters, the longest proper prefix that is also a suffix of them. */
  const borders = new Int32Array(length + 1);
  borders[0] = -1;
  for (let i = 0, border = -1; i < length; i += 1) {
    while (border >= 0 && codes[border] !== codes[i]) border = borders[border]!;
    border += 1;
    borders[i + 1] = border;
  }
  return (text, from, to) => {
    let matched = 0;
    for (let i = from; i < to; i += 1) {
      const code = text[i];
      while (matched >= 0 && codes[matched] !== code) matched = borders[matched]!;
      matched += 1;
      if (matched === length) return i + 1;
    }
    return -1;
  };
}

interface Literal {
  readonly code: number;
  readonly offset: number;
}

/** Intersects, for 1,024 places at a time, the places of each character that is not `_`, shifted by its offset. */
function placeSearch(length: number, literals: readonly Literal[]): Segment["endIn"] {
  return (_text, from, to, places) => {
    const block = new Int32Array(blockWords);
    for (let start = from; start + length <= to; start += blockWords * wordBits) {
      block.fill(-1);
      for (const { code, offset } of literals) {
        const of = places(code);
        if (of === undefined) return -1;
        if (!intersect(block, of, start + offset)) break;
      }
      const word = block.findIndex((bits) => bits !== 0);
      if (word < 0) continue;
      const end = start + word * wordBits + lowestBit(block[word]!) + length;
      return end <= to ? end : -1;
    }
    return -1;
  };
}

/**
 * Keeps the bits of the block that are also in `set` from bit `from` on.
 *
 * @returns whether any bit is left
 */
function intersect(block: Int32Array, set: ArrayLike<number>, from: number): boolean {
  const first = Math.floor(from / wordBits);
  const shift = from % wordBits;
  let low = set[first]!;
  let any = 0;
  for (let i = 0; i < blockWords; i += 1) {
    const high = set[first + i + 1]!;
    const kept = block[i]! & ((low >>> shift) | ((high << 1) << (wordBits - 1 - shift)));
    block[i] = kept;
    any |= kept;
    low = high;
  }
  return any !== 0;
}

function lowestBit(bits: number): number {
  return wordBits - 1 - Math.clz32(bits & -bits);
}

/** Finds the places of the wanted characters in one pass over the text, when they are first needed. */
export function placesIn(text: Codes, wanted: ReadonlySet<number>): Places {
  let found: Map<number, Int32Array> | undefined;
  return (code) => {
    found ??= findPlaces(text, wanted);
    return found.get(code);
  };
}

function findPlaces(text: Codes, wanted: ReadonlySet<number>): Map<number, Int32Array> {
  // A block that starts at the last place reads one word past its own.
  const words = Math.floor(text.length / wordBits) + blockWords + 1;
  const found = new Map<number, Int32Array>();
  for (let i = 0; i < text.length; i += 1) {
    const code = text[i]!;
    let bits = found.get(code);
    if (bits === undefined) {
      if (!wanted.has(code)) continue;
      bits = new Int32Array(words);
      found.set(code, bits);
    }
    bits[i >>> 5] = bits[i >>> 5]! | (1 << (i & 31));
  }
  return found;
}
