/** The maximum levels. A DynamoDB attribute value has at most 32, and each is two levels of JSON. */
const maxLevels = 80;
/** AWS bounds a request only by its bytes. This limit bounds the time that one request blocks all others. */
const maxValues = 400_000;

/** Thrown when a text exceeds a limit. `rule` names it. */
export class JsonLimitError extends Error {
  constructor(readonly rule: string) {
    super(rule);
  }
}

/** @throws JsonLimitError, SyntaxError */
export function parseJson(text: string): unknown {
  if (text.length > 2 * maxValues && valuesOf(text) > maxValues) {
    throw new JsonLimitError(`must have at most ${maxValues} values`);
  }
  const value: unknown = JSON.parse(text);
  if (isDeeper(value, maxLevels)) throw new JsonLimitError(`must be at most ${maxLevels} levels deep`);
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function valuesOf(text: string): number {
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "," || character === "[" || character === "{") values += 1;
  }
  return values;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
