/** Limits of one JSON text from a caller: the depth bounds the stack, the others the time. */
export interface JsonLimits {
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** Number of values: numbers, texts, literals, arrays and objects. */
  readonly values: number;
  /** Elements of one array. */
  readonly elements: number;
  /** Number of members of all objects together. Each new combination of names costs the parser a new object shape. */
  readonly members: number;
  /** Number of characters of one text, as it is written. */
  readonly characters: number;
}

/**
 * The limits of both protocols of the API. Twenty-four levels fit into an item of DynamoDB, which may be 32 levels deep. The largest valid request
 * has 100,000 points in three columns.
 */
export const requestLimits: JsonLimits = {
  depth: 24,
  values: 310_000,
  elements: 100_000,
  members: 80_000,
  characters: 1_048_576,
};

/** Limits of JSON from a file or the bucket, whose size bounds the rest: a deeper value would end recursive code. */
export const documentLimits: JsonLimits = {
  depth: 64,
  values: Number.POSITIVE_INFINITY,
  elements: Number.POSITIVE_INFINITY,
  members: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
};

/** Thrown when the text exceeds a limit. `rule` names it: `must be at most 24 levels deep`. */
export class JsonLimitError extends Error {
  constructor(readonly rule: string) {
    super(rule);
  }
}

/** @throws JsonLimitError, SyntaxError */
export function parseJson(text: string, limits: JsonLimits = requestLimits): unknown {
  return parseCounted(text, limits).value;
}

/**
 * Parses a text and counts its values. A text that is too short to exceed the other limits is parsed first: counting
 * the levels of the result is several times faster than reading each character.
 * @throws JsonLimitError, SyntaxError
 */
export function parseCounted(
  text: string,
  limits: JsonLimits = requestLimits,
): { readonly value: unknown; readonly values: number } {
  if (text.length > maxUnchecked(limits)) {
    const values = checkJsonLimits(text, limits);
    return { value: JSON.parse(text), values };
  }
  const value: unknown = JSON.parse(text);
  const values = countValues(value, limits.depth);
  if (values === Number.POSITIVE_INFINITY) refuse(`must be at most ${limits.depth} levels deep`);
  return { value, values };
}

/** An element takes at least two characters (`0,`), a member five (`"":0,`). */
function maxUnchecked({ elements, values, members, characters }: JsonLimits): number {
  return Math.min(2 * elements, 2 * values, 5 * members, characters);
}

/** Returns infinity for a value with more levels of arrays and objects. */
function countValues(value: unknown, levels: number): number {
  if (typeof value !== "object" || value === null) return 1;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  let values = 1;
  if (Array.isArray(value)) for (const element of value) values += countValues(element, levels - 1);
  else for (const name in value) values += countValues((value as Record<string, unknown>)[name], levels - 1);
  return values;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Counts in one pass over the characters, without recursion. Exact for JSON, and an upper bound for other text.
 * @returns the number of values in the text
 * @throws JsonLimitError
 */
export function checkJsonLimits(text: string, limits: JsonLimits): number {
  const counts = new Int32Array(limits.depth + 1);
  const isArray = new Uint8Array(limits.depth + 1);
  let depth = 0;
  let values = 1;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) at = endOfText(text, at, limits.characters);
    else if (character === openArray || character === openObject) {
      depth += 1;
      if (depth > limits.depth) refuse(`must be at most ${limits.depth} levels deep`);
      counts[depth] = 1;
      isArray[depth] = character === openArray ? 1 : 0;
      values += 1;
      members += 1 - isArray[depth]!;
    } else if (character === comma) {
      values += 1;
      members += 1 - isArray[depth]!;
      counts[depth]! += 1;
      if (isArray[depth] === 1 && counts[depth]! > limits.elements) {
        refuse(`must have at most ${limits.elements} elements in one list`);
      }
      if (members > limits.members) refuse(`must have at most ${limits.members} members in all its objects`);
      if (values > limits.values) refuse(`must have at most ${limits.values} values`);
    } else if (character === closeArray || character === closeObject) depth = Math.max(0, depth - 1);
  }
  return values;
}

/** Returns the index of a text's closing quote, or the length. `indexOf` is much faster than a loop. */
function endOfText(text: string, start: number, maxLength: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    const end = at === -1 ? text.length : at;
    if (end - start - 1 > maxLength) refuse(`must have at most ${maxLength} characters in one text`);
    if (at === -1) return end;
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

function refuse(rule: string): never {
  throw new JsonLimitError(rule);
}

/** Encodes a value as JSON. JSON has neither NaN nor infinities, so they become strings: `"NaN"`, `"-Infinity"`. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON.stringify writes these numbers as null. Only a text with a null needs the slower call.
  return text.includes("null") ? JSON.stringify(value, finiteOrText) : text;
}

function finiteOrText(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** Tests whether a JSON value is an object, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
