import { BoundedMap } from "../../../core/bounded-map";

/** A step of a JSONPath. Names and indexes are definite: they select at most one value. */
export type PathStep =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "wildcard" }
  | { readonly kind: "descend"; readonly step: PathStep }
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "indexes"; readonly indexes: readonly number[] }
  | { readonly kind: "slice"; readonly start?: number; readonly end?: number }
  | { readonly kind: "filter"; readonly test: Test };

/**
 * A filter, `?( … )`: a path, a comparison of a path with a literal or another path, or tests joined by `&&`, `||` and
 * `!`.
 */
export type Test =
  | { readonly kind: "or" | "and"; readonly tests: readonly Test[] }
  | { readonly kind: "not"; readonly test: Test }
  | { readonly kind: "exists"; readonly path: readonly PathStep[] }
  | { readonly kind: "compare"; readonly operator: string; readonly left: Operand; readonly right: Operand };

export type Operand = { readonly path: readonly PathStep[] } | { readonly literal: string | number | boolean | null };

/** A JSONPath: `$.a`, `$$.a` (the context object) or `$name.a` (a variable). */
export interface Path {
  readonly root: "input" | "context" | { readonly variable: string };
  readonly steps: readonly PathStep[];
  /** Whether the path selects at most one value. */
  readonly definite: boolean;
}

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  get rest(): string {
    return this.text.slice(this.at);
  }
  fail(): never {
    throw new SyntaxError(`Invalid path '${this.text}': unexpected '${this.rest || "end"}' at position ${this.at}`);
  }
  take(pattern: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(pattern.source, "uy");
    sticky.lastIndex = this.at;
    const match = sticky.exec(this.text);
    if (!match) return undefined;
    this.at = sticky.lastIndex;
    return match;
  }
  need(pattern: RegExp): RegExpExecArray {
    return this.take(pattern) ?? this.fail();
  }
}

const nameToken = /[\p{L}\p{N}_$-]+/u;
const quoted = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/;
const unquote = (match: RegExpExecArray): string => (match[1] ?? match[2] ?? "").replace(/\\(.)/g, "$1");

function operand(reader: Reader): Operand {
  reader.need(/\s*/);
  if (reader.take(/@/)) return { path: steps(reader) };
  const text = reader.take(quoted);
  if (text) return { literal: unquote(text) };
  const [word] = reader.need(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/);
  return { literal: JSON.parse(word as string) as number | boolean | null };
}

function unary(reader: Reader): Test {
  reader.need(/\s*/);
  if (reader.take(/!(?!=)/)) return { kind: "not", test: unary(reader) };
  if (reader.take(/\(/)) {
    const inner = disjunction(reader);
    reader.need(/\s*\)/);
    return inner;
  }
  const left = operand(reader);
  const operator = reader.take(/\s*(==|!=|<=|>=|<|>)/)?.[1];
  if (operator) return { kind: "compare", operator, left, right: operand(reader) };
  return "path" in left ? { kind: "exists", path: left.path } : reader.fail();
}

function joined(reader: Reader, kind: "and" | "or", separator: RegExp, next: (reader: Reader) => Test): Test {
  const tests = [next(reader)];
  while (reader.take(separator)) tests.push(next(reader));
  return tests.length === 1 ? (tests[0] as Test) : { kind, tests };
}
const conjunction = (reader: Reader): Test => joined(reader, "and", /\s*&&/, unary);
const disjunction = (reader: Reader): Test => joined(reader, "or", /\s*\|\|/, conjunction);

function bracket(reader: Reader): PathStep {
  const step = selector(reader);
  reader.need(/\s*\]/);
  return step;
}

function selector(reader: Reader): PathStep {
  reader.need(/\s*/);
  if (reader.take(/\*/)) return { kind: "wildcard" };
  if (reader.take(/\?\(/)) {
    const test = disjunction(reader);
    reader.need(/\s*\)/);
    return { kind: "filter", test };
  }
  const first = reader.take(quoted);
  if (first) {
    const names = [unquote(first)];
    while (reader.take(/\s*,\s*/)) names.push(unquote(reader.need(quoted)));
    return names.length === 1 ? { kind: "name", name: names[0] as string } : { kind: "names", names };
  }
  const slice = reader.take(/(-?\d+)?\s*:\s*(-?\d+)?/);
  if (slice) {
    const [, start, end] = slice;
    return { kind: "slice", ...(start && { start: Number(start) }), ...(end && { end: Number(end) }) };
  }
  const indexes = [Number(reader.need(/-?\d+/)[0])];
  while (reader.take(/\s*,\s*/)) indexes.push(Number(reader.need(/-?\d+/)[0]));
  return indexes.length === 1 ? { kind: "index", index: indexes[0] as number } : { kind: "indexes", indexes };
}

function steps(reader: Reader): readonly PathStep[] {
  const found: PathStep[] = [];
  for (;;) {
    if (reader.take(/\.\./)) {
      const step: PathStep = reader.take(/\[/) ? bracket(reader) : dotted(reader);
      found.push({ kind: "descend", step });
    } else if (reader.take(/\./)) found.push(dotted(reader));
    else if (reader.take(/\[/)) found.push(bracket(reader));
    else return found;
  }
}

const dotted = (reader: Reader): PathStep =>
  reader.take(/\*/) ? { kind: "wildcard" } : { kind: "name", name: reader.need(nameToken)[0] };

const cache = new BoundedMap<string, Path>(5_000);

/** Parses a path. Throws a `SyntaxError` with the position of the error. */
export function parsePath(text: string): Path {
  const known = cache.get(text);
  if (known) return known;
  const reader = new Reader(text);
  reader.need(/\$/);
  const variable = reader.take(/[\p{L}_][\p{L}\p{N}_]*/u)?.[0];
  const root = variable ? { variable } : reader.take(/\$/) ? "context" : "input";
  const found = steps(reader);
  if (reader.rest) reader.fail();
  const definite = found.every(({ kind }) => kind === "name" || kind === "index");
  const path: Path = { root, steps: found, definite };
  cache.set(text, path);
  return path;
}
