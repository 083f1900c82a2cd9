import { createHash, randomUUID } from "node:crypto";
import type { Json } from "../json";

/**
 * A function that Step Functions adds to JSONata
 * (https://docs.aws.amazon.com/step-functions/latest/dg/transforming-data.html).
 */
export type JsonataFunction = (...args: readonly unknown[]) => Json | undefined;

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

/** The maximum number of items of `$range` and `States.ArrayRange`, as on AWS. */
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

export const jsonataFunctions: Readonly<Record<string, JsonataFunction>> = {
  partition,
  range,
  hash,
  random,
  uuid: () => randomUUID(),
  parse,
};
