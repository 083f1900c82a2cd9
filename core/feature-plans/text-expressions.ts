import { createHash } from "node:crypto";
import { BoundedMap } from "../bounded-map";
import { asDictionary, columnOf, DictionaryColumn, dictionaryOf } from "./columns";
import { type Expression, type NumberExpression, strict, type TextExpression } from "./expression";

/** Separates the parts of a cross. It is a control character, which text hardly contains. */
export const separator = String.fromCharCode(31);

export function textLength(a: TextExpression): NumberExpression {
  return strict(
    { op: "textLength" },
    [a],
    (_, x) => `CAST(length(${x}) AS DOUBLE)`,
    (x) => characters(x).length,
  );
}

export function join(parts: readonly TextExpression[]): TextExpression {
  return {
    operation: { op: "join", inputs: parts.map(({ operation }) => operation) },
    sql: (dialect) => `(${parts.map((part) => part.sql(dialect)).join(" || chr(31) || ")})`,
    valueOf: (row) => {
      const values = parts.map((part) => part.valueOf(row));
      return values.includes(null) ? null : values.join(separator);
    },
    columnOf: (rows) => {
      const columns = parts.map((part) => columnOf(part, rows)).map(asDictionary);
      return columns.reduce((left, right) => {
        const pairs = pairsOf(left, right);
        const joined = pairs.values.map((pair) => {
          const a = left.values[Math.floor(pair / right.values.length)];
          const b = right.values[pair % right.values.length];
          return a === null || b === null ? null : `${a as string}${separator}${b as string}`;
        });
        return new DictionaryColumn(pairs.codes, joined);
      });
    },
  };
}

/** A table of all pairs is faster than a map, up to this size. */
const maxTable = 2 ** 20;

/** Returns each pair of codes once, as `code of left × values of right + code of right`, and the place of each row's pair. */
function pairsOf(left: DictionaryColumn, right: DictionaryColumn): { codes: Int32Array; values: readonly number[] } {
  const size = left.values.length * right.values.length;
  const count = left.codes.length;
  const pairAt = (row: number) => left.codes[row]! * right.values.length + right.codes[row]!;
  if (size > maxTable) return dictionaryOf(count, pairAt) as { codes: Int32Array; values: readonly number[] };
  const places = new Int32Array(size);
  const values: number[] = [];
  const codes = new Int32Array(count);
  for (let row = 0; row < count; row += 1) {
    const pair = pairAt(row);
    // 0 is a pair that has not occurred.
    if (places[pair] === 0) places[pair] = values.push(pair);
    codes[row] = places[pair]! - 1;
  }
  return { codes, values };
}

/** Returns the bucket in `[0, buckets)` of a text: the first 32 bits of its MD5, modulo `buckets`. */
export function bucketOf(a: TextExpression, buckets: number): NumberExpression {
  const hash = cached(hash32);
  return strict(
    { op: "bucketOf", buckets },
    [a],
    (dialect, x) => `CAST(${dialect.hash(x)} % ${buckets} AS DOUBLE)`,
    (x) => hash(x) % buckets,
  );
}

/** Returns the buckets of all `n` successive characters among the first `maxCharacters`. */
export function ngramBuckets(
  a: TextExpression,
  options: { readonly n: number; readonly buckets: number; readonly maxCharacters: number },
): Expression<readonly number[]> {
  const { n, buckets, maxCharacters } = options;
  const bucketsIn = cached((x: string): readonly number[] => {
    const all = characters(x).slice(0, maxCharacters);
    const count = Math.max(0, all.length - n + 1);
    return Array.from({ length: count }, (_, i) => hash32(all.slice(i, i + n).join("")) % buckets);
  });
  return strict(
    { op: "ngramBuckets", n, buckets, maxCharacters },
    [a],
    (dialect, x) => dialect.ngramBuckets(x, options),
    bucketsIn,
    false,
  );
}

/** Counts how often a whole number is in a list. */
export function countIn(list: Expression<readonly number[]>, value: number): NumberExpression {
  return strict(
    { op: "countIn", value },
    [list],
    (dialect, x) => dialect.countIn(x, value),
    (values) => {
      let count = 0;
      for (const each of values) if (each === value) count += 1;
      return count;
    },
  );
}

/** Returns the number that a table has for the text; missing if it has none. */
export function lookup(a: TextExpression, table: ReadonlyMap<string, number>): NumberExpression {
  return strict(
    { op: "lookup", table: [...table] },
    [a],
    (dialect, x) => dialect.lookup(x, table),
    (x) => table.get(x) ?? null,
  );
}

/** Returns the code points of a text. Half of a surrogate pair, which UTF-8 cannot store, is U+FFFD. */
function characters(value: string): readonly string[] {
  return [...value];
}

/** Returns the function with a memory of the last texts: few texts are the values of most rows. */
function cached<Value>(compute: (text: string) => Value): (text: string) => Value {
  const cache = new BoundedMap<string, Value>(10_000);
  return (text) => {
    const cachedValue = cache.get(text);
    if (cachedValue !== undefined) return cachedValue;
    const value = compute(text);
    cache.set(text, value);
    return value;
  };
}

function hash32(value: string): number {
  return createHash("md5").update(value, "utf8").digest().readUInt32BE(0);
}
