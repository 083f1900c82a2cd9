import type { Context } from "hono";
import { JsonLimitError, parseJson } from "../../core/json-text";
import type { ApiEnvironment } from "../http/context";
import { unstorableText } from "../http/input";
import { invalidJsonValue, invalidParameter, invalidValue, missingValue } from "./errors";
import { camelCase, FieldError, type Fields, readMembers, type Values } from "./fields";

/** Matches a string or a number of a JSON text. */
const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const mark = "\u0000number:";
const marked = /"\\u0000number:([^"]*)"/g;

/** Returns the member `metrics[3].key` as it was sent: JavaScript reads `9.0` as `9`, which client tests look for. */
export function memberAsSent(json: string, path: string): string | undefined {
  let part: unknown = withMarkedNumbers(json);
  // Old clients send their JSON as a JSON text.
  if (typeof part === "string") part = withMarkedNumbers(part);
  for (const name of path.split(/[.[\]]+/).filter((each) => each !== "")) {
    part = (part as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  }
  return JSON.stringify(part)?.replaceAll(marked, "$1");
}

function withMarkedNumbers(json: string): unknown {
  return JSON.parse(
    json.replaceAll(stringOrNumber, (token) => (token[0] === '"' ? token : JSON.stringify(mark + token))),
  );
}

/** Reads a request's members: from the query of a GET, else from the JSON body. @throws MlflowError */
export async function readRequest<F extends Fields>(context: Context<ApiEnvironment>, fields: F): Promise<Values<F>> {
  const query = context.req.method === "GET" ? context.req.queries() : {};
  const queried = Object.keys(query).length > 0;
  try {
    const input = queried ? fromQuery(fields, query) : await readJson(context);
    checkSpelling(fields, input);
    return readMembers(fields, input);
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    const { at, value } = error;
    if (value === undefined) throw missingValue(at);
    const text = queried ? "" : await context.req.text();
    const sent = text.length > 0 && text.length <= maxReadAgain ? memberAsSent(text, at) : undefined;
    throw sent === undefined ? invalidValue(at, value) : invalidJsonValue(at, sent);
  }
}

/** Maximum length of a body that is parsed a second time to show a refused value as it was sent. */
const maxReadAgain = 100_000;

function checkSpelling(fields: Fields, given: Readonly<Record<string, unknown>>): void {
  for (const name in fields) {
    const camel = camelCase(name);
    if (camel !== name && Object.hasOwn(given, name) && Object.hasOwn(given, camel))
      throw invalidParameter(`Request specifies both '${name}' and '${camel}'; provide only one of them.`);
  }
}

function fromQuery(fields: Fields, query: Readonly<Record<string, readonly string[]>>): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(query)) {
    const field = fields[name];
    if (field?.repeated) read[name] = values;
    else if (field?.boolean) read[name] = readQueryBoolean(values[0]!);
    else read[name] = values[0];
  }
  return read;
}

function readQueryBoolean(value: string): boolean {
  const lower = value.toLowerCase();
  if (lower !== "true" && lower !== "false") {
    throw invalidParameter(`Invalid boolean value: ${value}, must be 'true' or 'false'.`);
  }
  return lower === "true";
}

/** Reads a JSON body. An empty body is an empty request; old clients send their JSON as a JSON text. */
async function readJson(context: Context<ApiEnvironment>): Promise<Readonly<Record<string, unknown>>> {
  const { method } = context.req;
  if (method === "POST" || method === "PUT") {
    const type = context.req.header("content-type");
    if (type === undefined) throw invalidParameter("Bad Request. Content-Type header is missing.");
    if (type.split(";")[0]!.trim().toLowerCase() !== "application/json") {
      throw invalidParameter("Bad Request. Content-Type must be one of ['application/json'].");
    }
  }
  const body = await context.req.text();
  if (body === "") return {};
  const first = parse(body);
  const read = typeof first === "string" ? parse(first) : first;
  // Most bodies need no check, so a large batch is not searched.
  const problem = /\\u|__proto__/.test(body) ? unstorableText(read) : undefined;
  if (problem !== undefined) throw invalidParameter(`Bad Request. A text or name of the body ${problem}.`);
  if (read === null) return {};
  if (typeof read !== "object" || Array.isArray(read))
    throw invalidParameter("Bad Request. The body must be a JSON object.");
  return read as Record<string, unknown>;
}

function parse(body: string): unknown {
  try {
    return parseJson(body);
  } catch (cause) {
    if (cause instanceof JsonLimitError) throw invalidParameter(`Bad Request. The body ${cause.rule}.`);
    throw invalidParameter(`Bad Request. The body must be JSON: ${(cause as Error).message}`);
  }
}
