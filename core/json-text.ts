/** The limits of one JSON text from a caller. Each bounds what its reading costs: a depth the stack, the others the time. */
export interface JsonLimits {
  /** Levels of arrays and objects. */
  readonly depth: number;
  /** Values in all: numbers, texts, literals, arrays and objects. */
  readonly values: number;
  /** Elements of one array. */
  readonly elements: number;
  /** Members of all objects together: each new combination of names costs the parser a new object shape. */
  readonly members: number;
  /** Characters of one text, as it is written. */
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

/** The text is past a limit. `rule` names it: `must be at most 24 levels deep`. */
export class JsonLimitError extends Error {
  constructor(readonly rule: string) {
    super(rule);
  }
}

/** @throws JsonLimitError, SyntaxError */
export function parseJson(text: string, limits: JsonLimits = requestLimits): unknown {
  checkJsonLimits(text, limits);
  return JSON.parse(text);
}

/** The only characters that a count depends on: all between them is skipped by the regular expression engine. */
const structure = /["[\]{},]/g;

/**
 * Counts in one pass, without recursion; exact for JSON, and an upper bound for text that is not.
 *
 * @returns how many values the text has
 * @throws JsonLimitError
 */
export function checkJsonLimits(text: string, limits: JsonLimits): number {
  const counts = new Int32Array(limits.depth + 1);
  const isArray = new Uint8Array(limits.depth + 1);
  let depth = 0;
  let values = 1;
  let members = 0;
  structure.lastIndex = 0;
  while (structure.test(text)) {
    const at = structure.lastIndex - 1;
    const character = text[at];
    if (character === '"') {
      structure.lastIndex = endOfText(text, at, limits.characters) + 1;
    } else if (character === "[" || character === "{") {
      depth += 1;
      if (depth > limits.depth) refuse(`must be at most ${limits.depth} levels deep`);
      counts[depth] = 1;
      isArray[depth] = character === "[" ? 1 : 0;
      values += 1;
      members += 1 - isArray[depth]!;
    } else if (character === ",") {
      values += 1;
      members += 1 - isArray[depth]!;
      counts[depth] = counts[depth]! + 1;
      if (isArray[depth] === 1 && counts[depth]! > limits.elements) {
        refuse(`must have at most ${limits.elements} elements in one list`);
      }
      if (members > limits.members) refuse(`must have at most ${limits.members} members in all its objects`);
      if (values > limits.values) refuse(`must have at most ${limits.values} values`);
    } else depth = Math.max(0, depth - 1);
  }
  return values;
}

function endOfText(text: string, start: number, longest: number): number {
  for (let at = start + 1; ; at += 1) {
    at = text.indexOf('"', at);
    const end = at === -1 ? text.length : at;
    if (end - start - 1 > longest) refuse(`must have at most ${longest} characters in one text`);
    if (at === -1) return end;
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

function refuse(rule: string): never {
  throw new JsonLimitError(rule);
}
