/**
 * Values as MLflow's server writes them in its refusals: `json.dumps(value, sort_keys=True, separators=(",", ":"))` of what Python's `json` read. What is
 * told apart there and not here is `9` and `9.0`; hence a body that is refused is read once more, with its numbers as they were written.
 */

/** A number of a JSON text, as it stands there. */
export class NumberLiteral {
  constructor(readonly written: string) {}

  get isFloat(): boolean {
    return /[.eE]/.test(this.written);
  }
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** No text of a JSON body begins so by chance. */
const mark = "\u0000number:";

/** @param json that can be read */
export function withNumberLiterals(json: string): unknown {
  const marked = json.replace(stringOrNumber, (token) => (token[0] === '"' ? token : JSON.stringify(mark + token)));
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? new NumberLiteral(value.slice(mark.length)) : value,
  );
}

/** `tags`, `metrics[3].key`: what stands there, if anything does. */
export function memberAt(body: unknown, path: string): unknown {
  return path
    .split(/[.[\]]+/)
    .filter((name) => name !== "")
    .reduce<unknown>((part, name) => (part as Readonly<Record<string, unknown>> | null | undefined)?.[name], body);
}

/** @param enough characters after which the rest may be left out */
export function pythonJson(value: unknown, enough = Number.POSITIVE_INFINITY): string {
  if (value === undefined || value === null) return "null";
  if (value instanceof NumberLiteral) {
    return value.isFloat ? pythonFloat(Number(value.written)) : value.written === "-0" ? "0" : value.written;
  }
  if (typeof value === "string") return pythonString(value.length > enough ? value.slice(0, enough + 1) : value);
  if (Array.isArray(value)) return `[${joined(value, enough, (one, left) => pythonJson(one, left))}]`;
  if (typeof value !== "object") return String(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${joined(members, enough, ([name, member], left) => `${pythonString(name)}:${pythonJson(member, left)}`)}}`;
}

function joined<T>(items: readonly T[], enough: number, write: (item: T, left: number) => string): string {
  let text = "";
  for (const [i, item] of items.entries()) {
    if (text.length > enough) break;
    text += `${i > 0 ? "," : ""}${write(item, enough - text.length)}`;
  }
  return text;
}

/** Python's `repr` of a float: the shortest digits, with an exponent below 1e-4 and from 1e16 on. */
export function pythonFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

export function pythonType(value: unknown): string {
  if (value === null || value === undefined) return "NoneType";
  if (Array.isArray(value)) return "list";
  if (value instanceof NumberLiteral) return value.isFloat ? "float" : "int";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return { string: "str", boolean: "bool", object: "dict" }[typeof value as string] ?? typeof value;
}

/** All but printable ASCII is escaped. */
function pythonString(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
