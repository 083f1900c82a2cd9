import { createHash } from "node:crypto";
import type { Comparison } from "./case";

export interface Saved {
  readonly value: unknown;
  /** The last name of the path that it was saved from. */
  readonly key: string;
}

/**
 * Shorter ones may be anything else's value too: they stand for themselves only under the name that they were saved
 * from, and as parts of paths.
 */
const tellingLength = 8;
/** Characters of a text that is recorded whole. */
const maxText = 200;
const hourMs = 3_600_000;
const timeKey = /(_time|timestamp|_time_ms|_timestamp_ms)$/;
const id = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g;

/** An answer without what no two servers share: ids, times, the order of what has none. */
export function normalize(
  body: unknown,
  saved: ReadonlyMap<string, Saved>,
  now: number,
  compare: Comparison = {},
): unknown {
  const ignored = (compare.ignore ?? []).map((path) => path.split("."));
  const unordered = (compare.unordered ?? []).map((path) => path.split("."));

  function value(part: unknown, path: readonly string[]): unknown {
    if (ignored.some((each) => matches(each, path))) return "<ignored>";
    if (Array.isArray(part)) {
      const items = part.map((item, index) => value(item, [...path, String(index)]));
      return unordered.some((each) => matches(each, path)) ? sorted(items, JSON.stringify) : byKey(items);
    }
    if (part !== null && typeof part === "object") {
      const entries = Object.entries(part).map(
        ([name, item]) => [text(name, ""), value(item, [...path, name])] as const,
      );
      return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
    }
    const name = path.findLast((each) => !/^\d+$/.test(each)) ?? "";
    if (/page_token$/.test(name) && part !== "") return "<token>";
    if (timeKey.test(name) && Math.abs(Number(part) - now) < hourMs) return `<time as ${typeof part}>`;
    if (typeof part === "string") return text(part, name);
    for (const [variable, { value: known, key }] of saved) if (known === part && key === name) return `<${variable}>`;
    return compare.body === "shape" ? `<${typeof part}>` : part;
  }

  function text(part: string, name: string): string {
    let result = part;
    for (const [variable, { value: known, key }] of saved) {
      const known_ = String(known);
      if (known_ === "") continue;
      if (known_.length >= tellingLength) result = result.replaceAll(known_, `<${variable}>`);
      else if (result === known_ && singular(name) === singular(key)) result = `<${variable}>`;
      else if (/^[a-z-]+:\//.test(result))
        result = result.replace(new RegExp(`(?<=[/:])${escaped(known_)}(?=/|$)`), `<${variable}>`);
    }
    const plain = shortened(compactJson(result.replaceAll(id, "<id>")));
    return compare.body === "shape" && !plain.includes("<") ? "<string>" : plain;
  }

  return value(body, []);
}

interface ErrorBody {
  readonly error_code: unknown;
  readonly message?: unknown;
}

export function isError(body: unknown): body is ErrorBody {
  return body !== null && typeof body === "object" && "error_code" in body;
}

/** The code of a refusal, whose message must be a text. @param says a phrase that the message must contain */
export function refusal({ error_code, message }: ErrorBody, says: string | undefined): unknown {
  if (typeof message !== "string" || message === "") return { error_code, message };
  if (says === undefined) return error_code;
  return { error_code, ...(message.includes(says) ? { says } : { message }) };
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length === path.length && pattern.every((part, i) => part === "*" || part === path[i]);
}

function byKey(items: readonly unknown[]): readonly unknown[] {
  const keyOf = (item: unknown): string | undefined => {
    const { key, alias } = (item ?? {}) as { readonly key?: unknown; readonly alias?: unknown };
    return typeof key === "string" ? key : typeof alias === "string" ? alias : undefined;
  };
  return items.every((item) => keyOf(item) !== undefined) ? sorted(items, (item) => keyOf(item)!) : items;
}

/** Stable: what has the same key keeps its order. */
function sorted(items: readonly unknown[], keyOf: (item: unknown) => string): readonly unknown[] {
  return [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

/** JSON in a text is compared without its blanks. */
function compactJson(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Describes a long text by its start, its length and its digest. */
function shortened(text: string): string {
  if (text.length <= maxText) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${text.slice(0, 20)}… ${text.length} characters, ${digest}`;
}

function singular(name: string): string {
  return name.replace(/s$/, "");
}

function escaped(literal: string): string {
  return literal.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
