import { createHash, randomUUID } from "node:crypto";
import { StateError } from "../errors";
import { equal, isArray, isObject, type Json } from "../json";
import { maxRangeItems } from "./jsonata-functions";

/** An intrinsic function of JSONPath, `States.…`. Its arguments are already evaluated. */
export type Intrinsic = (...args: readonly Json[]) => Json;

const failure = (why: string): StateError => new StateError("States.IntrinsicFailure", why);

const text = (value: Json | undefined): string => {
  if (typeof value === "string") return value;
  throw failure(`The argument ${JSON.stringify(value)} must be a string`);
};
const list = (value: Json | undefined): readonly Json[] => {
  if (isArray(value)) return value;
  throw failure(`The argument ${JSON.stringify(value)} must be an array`);
};
const integer = (value: Json | undefined): number => {
  if (typeof value === "number") return Math.round(value);
  throw failure(`The argument ${JSON.stringify(value)} must be a number`);
};
const object = (value: Json | undefined) => {
  if (isObject(value)) return value;
  throw failure(`The argument ${JSON.stringify(value)} must be an object`);
};

const shown = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function format(template: Json | undefined, ...args: readonly Json[]): Json {
  let used = 0;
  // `\{`, `\}` and `\\` mean the escaped character.
  const filled = text(template).replace(/\\([{}\\'])|\{\}/g, (_match, escaped: string | undefined) => {
    if (escaped) return escaped;
    const value = args[used++];
    if (value === undefined) throw failure("States.Format has fewer arguments than '{}' in its template");
    return shown(value);
  });
  if (used !== args.length) throw failure(`States.Format has ${args.length} arguments for ${used} '{}'`);
  return filled;
}

function arrayRange(first: Json | undefined, last: Json | undefined, step: Json | undefined): Json {
  const [from, to, by] = [integer(first), integer(last), integer(step)];
  if (by === 0) throw failure("The step of States.ArrayRange must not be 0");
  const count = Math.max(0, Math.floor((to - from) / by) + 1);
  if (count > maxRangeItems) throw failure(`States.ArrayRange gives at most ${maxRangeItems} items, not ${count}`);
  return Array.from({ length: count }, (_, i) => from + i * by);
}

function arrayPartition(array: Json | undefined, size: Json | undefined): Json {
  const [items, width] = [list(array), integer(size)];
  if (width < 1) throw failure(`The chunk size of States.ArrayPartition must be positive, not ${width}`);
  return Array.from({ length: Math.ceil(items.length / width) }, (_, i) => items.slice(i * width, (i + 1) * width));
}

const digests: Readonly<Record<string, string>> = {
  MD5: "md5",
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

function hash(data: Json | undefined, algorithm: Json | undefined): Json {
  const digest = digests[text(algorithm)];
  if (!digest || data === undefined) throw failure(`Unknown hash algorithm ${JSON.stringify(algorithm)}`);
  return createHash(digest).update(shown(data)).digest("hex");
}

function jsonMerge(left: Json | undefined, right: Json | undefined, deep: Json | undefined): Json {
  if (deep !== false) throw failure("States.JsonMerge merges shallowly only: its third argument must be false");
  return { ...object(left), ...object(right) };
}

function mathRandom(start: Json | undefined, end: Json | undefined): Json {
  const [from, to] = [integer(start), integer(end)];
  if (to <= from) throw failure(`States.MathRandom needs a start below its end, not ${from} and ${to}`);
  return from + Math.floor(Math.random() * (to - from));
}

function fromJson(value: Json | undefined): Json {
  try {
    return JSON.parse(text(value)) as Json;
  } catch (error) {
    if (error instanceof StateError) throw error;
    throw failure(`States.StringToJson got no JSON: ${(error as Error).message}`);
  }
}

function stringSplit(value: Json | undefined, separators: Json | undefined): Json {
  const cut = new Set(text(separators));
  const parts = [""];
  for (const char of text(value)) {
    if (cut.has(char)) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.filter((part) => part !== "");
}

export const intrinsics: Readonly<Record<string, Intrinsic>> = {
  "States.Format": format,
  "States.StringToJson": fromJson,
  "States.JsonToString": (value) => JSON.stringify(value),
  "States.Array": (...items) => items,
  "States.ArrayPartition": arrayPartition,
  "States.ArrayContains": (array, value) => list(array).some((item) => equal(item, value)),
  "States.ArrayRange": arrayRange,
  "States.ArrayGetItem": (array, index) => {
    const item = list(array)[integer(index)];
    if (item === undefined) throw failure(`States.ArrayGetItem has no item ${JSON.stringify(index)}`);
    return item;
  },
  "States.ArrayLength": (array) => list(array).length,
  "States.ArrayUnique": (array) => {
    const items = list(array);
    return items.filter((item, i) => items.findIndex((each) => equal(each, item)) === i);
  },
  "States.Base64Encode": (value) => Buffer.from(text(value)).toString("base64"),
  "States.Base64Decode": (value) => Buffer.from(text(value), "base64").toString(),
  "States.Hash": hash,
  "States.JsonMerge": jsonMerge,
  "States.MathRandom": mathRandom,
  "States.MathAdd": (left, right) => integer(left) + integer(right),
  "States.StringSplit": stringSplit,
  "States.UUID": () => randomUUID(),
};
