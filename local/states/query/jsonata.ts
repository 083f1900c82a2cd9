import { createHash, randomUUID } from "node:crypto";
import { createContext, Script } from "node:vm";
import jsonata from "jsonata";
import { BoundedMap } from "../../bounded-map";
import type { Json } from "../json";

/**
 * A function that Step Functions adds to JSONata
 * (https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html).
 */
type JsonataFunction = (...args: readonly unknown[]) => Json | undefined;

const hashes: Readonly<Record<string, string>> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

const number = (value: unknown, name: string): number => {
  if (typeof value === "number") return value;
  throw new Error(`Argument ${name} must be a number`);
};

function partition(array: unknown, size: unknown): Json | undefined {
  if (array === undefined) return undefined;
  const items = (Array.isArray(array) ? array : [array]) as readonly Json[];
  const width = Math.trunc(number(size, "2 of function $partition"));
  if (width < 1) throw new Error(`Argument 2 of function $partition must be positive, not ${width}`);
  const chunks: Json[] = [];
  for (let at = 0; at < items.length; at += width) chunks.push(items.slice(at, at + width));
  return chunks;
}

const maxRangeItems = 1000;

function range(first: unknown, last: unknown, step: unknown): number[] {
  const from = number(first, "1 of function $range");
  const to = number(last, "2 of function $range");
  const by = number(step, "3 of function $range");
  if (by === 0) throw new Error("Argument 3 of function $range must not be 0");
  const count = Math.max(0, Math.floor((to - from) / by) + 1);
  if (count > maxRangeItems) throw new Error(`Function $range gives at most ${maxRangeItems} items, not ${count}`);
  return Array.from({ length: count }, (_, i) => from + i * by);
}

function hash(data: unknown, algorithm: unknown): string | undefined {
  if (data === undefined) return undefined;
  const name = hashes[String(algorithm)];
  if (!name) throw new Error(`Argument 2 of function $hash must be one of ${Object.keys(hashes).join(", ")}`);
  return createHash(name)
    .update(typeof data === "string" ? data : JSON.stringify(data))
    .digest("hex");
}

/** Returns the first value of Mulberry32. The same seed gives the same value. */
function random(seed: unknown): number {
  if (seed === undefined) return Math.random();
  let z = (Math.trunc(number(seed, "1 of function $random")) + 0x6d2b79f5) | 0;
  z = Math.imul(z ^ (z >>> 15), z | 1);
  z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
  return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
}

function parse(text: unknown): Json | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw new Error("Argument 1 of function $parse must be a string");
  return JSON.parse(text) as Json;
}

const jsonataFunctions: Readonly<Record<string, JsonataFunction>> = {
  partition,
  range,
  hash,
  random,
  uuid: () => randomUUID(),
  parse,
};

const budgetMs = 2000;
/** The time in milliseconds after which an evaluation lets the event loop run. */
const sliceMs = 10;
const maxDepth = 500;
const maxSequence = 500_000;

export type Bindings = Readonly<Record<string, unknown>>;

interface Meter {
  spent: number;
  since: number;
  calls: number;
}

const entryHook = Symbol.for("jsonata.__evaluate_entry") as unknown as string;
const meters = new WeakMap<object, Meter>();

/**
 * Pauses an evaluation and enforces its time limit. JSONata evaluates only in microtasks, so a long expression would
 * otherwise block timers and sockets.
 */
function meter(_node: unknown, _input: unknown, environment: { readonly base: object }): Promise<void> | undefined {
  const now = performance.now();
  const use = meters.get(environment.base) ?? { spent: 0, since: now, calls: 0 };
  meters.set(environment.base, use);
  use.calls += 1;
  if (use.calls % 32 !== 0 || now - use.since < sliceMs) return undefined;
  use.spent += now - use.since;
  if (use.spent > budgetMs) throw new Error(`The evaluation took longer than ${budgetMs} milliseconds`);
  return new Promise((resolve) =>
    setImmediate(() => {
      use.since = performance.now();
      resolve();
    }),
  );
}

/**
 * The context of regular expressions. A regular expression that backtracks without end must be interrupted, and V8 can
 * do so only inside a `vm` script.
 */
const sandbox = createContext(Object.create(null) as Record<string, unknown>);
const exec = new Script("pattern.exec(text)");

class BoundedRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    sandbox["pattern"] = { exec: (subject: string) => super.exec(subject) };
    sandbox["text"] = text;
    return exec.runInContext(sandbox, { timeout: budgetMs }) as RegExpExecArray | null;
  }
}

const cache = new BoundedMap<string, jsonata.Expression>(2_000);

export function compile(expression: string): jsonata.Expression {
  const cached = cache.get(expression);
  if (cached) return cached;
  const compiled = jsonata(expression, {
    RegexEngine: BoundedRegExp as unknown as RegExpConstructor,
    stack: maxDepth,
    sequence: maxSequence,
  });
  compiled.assign(entryHook, meter);
  compiled.assign("eval", undefined);
  for (const [name, implementation] of Object.entries(jsonataFunctions)) {
    compiled.registerFunction(name, (...args: unknown[]) => implementation(...args));
  }
  cache.set(expression, compiled);
  return compiled;
}

/** Returns JSONata's date functions with the service's clock. */
const clockFunctions = (now: number): Bindings => ({
  millis: () => now,
  now: (picture?: string, timezone?: string) =>
    picture === undefined
      ? new Date(now).toISOString()
      : jsonata("$fromMillis($at, $picture, $timezone)").evaluate(undefined, { at: now, picture, timezone }),
});

export function jsonataMessage(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code && code !== "ERR_SCRIPT_EXECUTION_TIMEOUT" ? `${code}: ${message}` : (message ?? String(error));
}

/**
 * Evaluates an expression to plain JSON, or to undefined if it has no value. `$now()` and `$millis()` return the time
 * `now`. Throws JSONata's errors, and an error if the value contains a function.
 */
export async function evaluate(expression: string, bindings: Bindings, now: number): Promise<Json | undefined> {
  const value: unknown = await compile(expression).evaluate(undefined, { ...clockFunctions(now), ...bindings });
  if (value === undefined) return undefined;
  // JSONata's sequences have internal flags, and may share structure with the bindings.
  return JSON.parse(JSON.stringify(value, refuseFunctions)) as Json;
}

function refuseFunctions(_key: string, value: unknown): unknown {
  const flags = value as { readonly _jsonata_lambda?: boolean; readonly _jsonata_function?: boolean } | null;
  if (typeof value === "function" || flags?._jsonata_lambda || flags?._jsonata_function) {
    throw new Error("The expression gave a function, which is no JSON value");
  }
  return value;
}
