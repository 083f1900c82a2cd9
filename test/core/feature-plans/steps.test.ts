import { createHash } from "node:crypto";
import type { PlanColumn } from "../../../core/feature-plans/shapes";
import type { RawRow } from "../../../core/row-values";
import { agree, applyRows, applyTable, type Features, fitRows, planOf, useDuckDb, writeTable } from "./engines";

const inf = Number.POSITIVE_INFINITY;
const day = 86_400_000;

/** A step of the column `x` with the result `y`; values, and what is expected of them by result, or of `y`. */
type Case = readonly [
  step: object | readonly object[],
  type: PlanColumn["type"],
  values: readonly unknown[],
  expected: readonly unknown[] | Readonly<Record<string, readonly unknown[]>>,
];

const isList = (expected: Case[3]): expected is readonly unknown[] => Array.isArray(expected);

/** The number that a text's bucket is the remainder of. */
const hash = (text: string) => createHash("md5").update(text).digest().readUInt32BE(0);
const utc = (text: string) => Date.parse(`${text}Z`);
const parts = ["year", "month", "day", "dayOfYear", "dayOfWeek", "hour", "minute", "minuteOfDay", "weekend", "days"];
const buckets = (...texts: readonly string[]) => texts.map((text) => hash(text) % 1000);
const even = (...texts: readonly string[]) => texts.filter((text) => hash(text) % 2 === 0).length;
const columnsOf = (types: Readonly<Record<string, PlanColumn["type"]>>): readonly PlanColumn[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }));
const deviation = Math.sqrt(8 / 3); // of 1, 3, 5

/** Expectations are worked by hand. */
const cases: readonly Case[] = [
  [{ kind: "number" }, "float", [1.5, null, inf], [1.5, null, inf]],
  [{ kind: "number" }, "bool", [true, false, null], [1, 0, null]],
  // NaN is missing, and imputed by the mean of the others.
  [{ kind: "number", impute: "mean" }, "float", [1, Number.NaN, null, 5], [1, 3, 3, 5]],
  [{ kind: "number", indicator: true }, "float", [1, Number.NaN], { y: [1, null], y_missing: [0, 1] }],
  // The median imputes as NumPy interpolates; infinities do not count.
  [{ kind: "number", impute: "median" }, "float", [1, 2, 4, 10, null, inf], [1, 2, 4, 10, 3, inf]],
  [{ kind: "standardize" }, "float", [1, 3, 5, null, -inf], [-2 / deviation, 0, 2 / deviation, null, -inf]],
  // A constant column is only centred.
  [{ kind: "standardize" }, "float", [0.1, 0.1, 0.1], [0, 0, 0]],
  [{ kind: "minmax" }, "float", [2, 4, 10, null], [0, 0.25, 1, null]],
  [{ kind: "minmax", clip: true }, "float", [0, 2, null, 1, inf, -inf], [0, 1, null, 0.5, 1, 0]],
  // By the median and the interquartile range.
  [{ kind: "robust" }, "int", [1, 2, 3, 4, 5, null], [-1, -0.5, 0, 0.5, 1, null]],
  [{ kind: "log" }, "float", [0, Math.E - 1, -1, -5, null, inf], [0, 1, null, null, null, inf]],
  // The number of boundaries that are at most x.
  [{ kind: "bucketize", boundaries: [0, 10] }, "float", [-1, 0, 9.99, 10, inf, null], [0, 1, 1, 2, 2, -1]],
  [{ kind: "bucketize", quantiles: 2 }, "int", [1, 2, 3, 4, null], [0, 0, 1, 1, -1]],
  [{ kind: "one-hot" }, "string", ["b", "a", null, "b", "", "it's"], [2, 1, -1, 2, 0, 3]],
  // A whole number is a category, another number is none.
  [{ kind: "one-hot" }, "float", [10, 2, -0, 0.5, inf], [2, 1, 0, -1, -1]],
  [{ kind: "one-hot", minCount: 2 }, "string", ["a", "b", "a"], [0, -1, 0]],
  [{ kind: "one-hot", values: ["z", "none"], impute: "none" }, "string", ["z", "a", null], [0, -1, 1]],
  [{ kind: "ordinal", values: [true, false], unknown: 9 }, "bool", [true, false, null], [0, 1, 9]],
  [{ kind: "hash", buckets: 1000 }, "string", ["a", "𝄞é", "", null], [...buckets("a", "𝄞é", ""), -1]],
  // Code points.
  [{ kind: "length" }, "string", ["", "é𝄞", "abc", null], [0, 2, 3, null]],
  [
    { kind: "ngrams", n: 2, buckets: 2 },
    "string",
    ["aaa", "a", null, "𝄞bé"],
    {
      y_0: [even("aa", "aa"), 0, null, even("𝄞b", "bé")],
      y_1: [2 - even("aa", "aa"), 0, null, 2 - even("𝄞b", "bé")],
    },
  ],
  // In UTC, also before 1970 and in leap years.
  [
    parts.map((part) => ({ kind: "date", name: part, part })),
    "timestamp",
    [utc("2024-03-01T13:45:59"), utc("1969-12-31T23:59:00"), null],
    {
      ...{ year: [2024, 1969, null], month: [3, 12, null], day: [1, 31, null] },
      dayOfYear: [61, 365, null], // 31 + 29 + 1
      dayOfWeek: [5, 3, null], // a Friday, a Wednesday
      ...{ hour: [13, 23, null], minute: [45, 59, null], minuteOfDay: [825, 1439, null], weekend: [0, 0, null] },
      days: [utc("2024-03-01T00:00:00") / day, -1, null],
    },
  ],
  [
    { kind: "cycle", part: "hour" },
    "timestamp",
    [utc("2024-03-01T06:00:00"), utc("2024-03-01T12:00:00"), null],
    { y_sin: [1, 0, null], y_cos: [0, -1, null] },
  ],
  // An infinite number is missing.
  [{ kind: "cycle", period: 360 }, "float", [90, inf, null], { y_sin: [1, null, null], y_cos: [0, null, null] }],
  // A later step reads the result of an earlier one, which need not be a feature.
  [
    [{ kind: "log", name: "x", offset: 0, output: false }, { kind: "standardize" }],
    "float",
    [1, Math.E ** 2, null],
    [-1, 1, null],
  ],
];

describe("steps, in memory and in DuckDB", () => {
  const session = useDuckDb();

  async function bothOf(
    steps: readonly object[],
    columns: readonly PlanColumn[],
    rows: readonly RawRow[],
    options: { readonly view?: object; readonly outOfFold?: boolean } = {},
  ): Promise<readonly Features[]> {
    const plan = planOf(steps, options.view);
    await writeTable(session(), "t", columns, rows);
    const fitted = await fitRows(plan, columns, rows);
    return [applyRows(fitted, rows, options.outOfFold), await applyTable(session(), fitted, "t", options.outOfFold)];
  }

  function expectColumns(found: Features, expected: Readonly<Record<string, readonly unknown[]>>): void {
    const columns = Object.fromEntries(Object.keys(expected).map((name) => [name, found.map((row) => row[name])]));
    const close = Object.entries(expected).every(([name, values]) =>
      values.every((value, i) => agree(value, columns[name]![i])),
    );
    if (!close) expect(columns).toEqual(expected);
    expect(Object.keys(found[0]!)).toEqual(Object.keys(expected));
  }

  it.each(cases)("%j of a %s", async (step, type, values, expected) => {
    const steps = [step].flat().map((one) => ({ column: "x", name: "y", ...one }));
    const results = isList(expected) ? { y: expected } : expected;
    const rows = values.map((x) => ({ x }));
    for (const found of await bothOf(steps, [{ name: "x", type }], rows)) expectColumns(found, results);
  });

  it("ratio is missing where the denominator is 0 or a number is infinite; a product of infinite numbers too", async () => {
    const steps = [
      { kind: "ratio", numerator: "a", denominator: "b", name: "r" },
      { kind: "product", columns: ["a", "b", "a"], name: "p" },
    ];
    const rows = [
      { a: 1, b: 4 },
      { a: 1, b: 0 },
      { a: inf, b: 2 },
      { a: 1e300, b: 1e300 },
      { a: null, b: 1 },
    ];
    const columns = columnsOf({ a: "float", b: "float" });
    const expected = { r: [0.25, null, null, 1, null], p: [4, 0, null, null, null] };
    for (const found of await bothOf(steps, columns, rows)) expectColumns(found, expected);
  });

  it("cross joins categories; a missing one makes it missing", async () => {
    const steps = [
      { kind: "cross", columns: ["a", "b"], name: "ab" },
      { kind: "one-hot", column: "ab", name: "y" },
    ];
    const rows = [
      { a: "x", b: true },
      { a: "x", b: false },
      { a: "w", b: true },
      { a: null, b: true },
    ];
    const columns = columnsOf({ a: "string", b: "bool" });
    for (const found of await bothOf(steps, columns, rows)) expectColumns(found, { y: [2, 1, 0, -1] });
  });

  it("target encodes training rows by the other folds, and other rows by all", async () => {
    const columns = columnsOf({ c: "string", label: "int", id: "int" });
    const steps = [{ kind: "target", column: "c", target: "label", foldBy: "id", folds: 2, smoothing: 1, name: "y" }];
    const foldOf = (id: number) => hash(String(id)) % 2;
    const [zeros, ones] = [0, 1].map((fold) =>
      Array.from({ length: 40 }, (_, id) => id).filter((id) => foldOf(id) === fold),
    );
    // Fold 0: a with 6 and 2, b with 4. Fold 1: a with 0, b with 8 and 4, and a row without a category with 10.
    const rows = [
      { c: "a", label: 6, id: zeros![0]! },
      { c: "a", label: 2, id: zeros![1]! },
      { c: "b", label: 4, id: zeros![2]! },
      { c: "a", label: 0, id: ones![0]! },
      { c: "b", label: 8, id: ones![1]! },
      { c: "b", label: 4, id: ones![2]! },
      { c: null, label: 10, id: ones![3]! },
      { c: "c", label: null, id: ones![4]! },
    ];
    // Mean of fold 0: 12 / 3 = 4; of fold 1: 22 / 4 = 5.5; of all: 34 / 7.
    const [mean0, mean1, mean] = [5.5, 4, 34 / 7]; // for rows of fold 0, of fold 1, and of neither
    const a0 = (0 + mean0) / 2; // fold 1 has one row of a
    const b0 = (12 + mean0) / 3;
    const a1 = (8 + mean1) / 3;
    const b1 = (4 + mean1) / 2;
    const training = { y: [a0, a0, b0, a1, b1, b1, mean1, mean1] };
    const [a, b] = [(8 + mean) / 4, (16 + mean) / 4];
    const serving = { y: [a, a, b, a, b, b, mean, mean] };
    for (const found of await bothOf(steps, columns, rows, { outOfFold: true })) expectColumns(found, training);
    for (const found of await bothOf(steps, columns, rows)) expectColumns(found, serving);
  });

  it("target encodes a label of texts by its positive value", async () => {
    const columns = columnsOf({ c: "string", label: "string", id: "string" });
    const step = { kind: "target", column: "c", target: "label", foldBy: "id", smoothing: 0, name: "y" };
    const labels = ["yes", "no", "maybe", "yes", null, "no"];
    const rows = labels.map((label, id) => ({ c: id < 3 ? "a" : "b", label, id: String(id) }));
    const y = [1 / 3, 1 / 3, 1 / 3, 1 / 2, 1 / 2, 1 / 2];
    for (const found of await bothOf([{ ...step, positive: "yes" }], columns, rows)) expectColumns(found, { y });
    await expect(bothOf([{ ...step, positive: "Yes" }], columns, rows)).rejects.toThrow(
      'y.positive is "Yes", but must be a value of label in the training rows',
    );
    await expect(bothOf([step], columns, rows)).rejects.toThrow("positive is required for a label of texts");
  });

  it("windows aggregate the entity's rows up to the row's time", async () => {
    const columns = columnsOf({ who: "string", at: "timestamp", x: "float" });
    const aggregates = ["count", "sum", "mean", "minimum", "maximum"] as const;
    const steps = aggregates.map((aggregate) => ({
      kind: "window",
      column: "x",
      aggregate,
      over: "2d",
      name: aggregate,
    }));
    const rows = [
      { who: "a", at: 0, x: 1 },
      { who: "a", at: 2 * day, x: 3 }, // the first row is exactly two days before
      { who: "a", at: 2 * day, x: 5 }, // the same time
      { who: "a", at: 2 * day + 1, x: null }, // the first row is too old
      { who: "b", at: 2 * day, x: inf },
      { who: "a", at: null, x: 7 },
    ];
    const expected = {
      count: [1, 3, 3, 2, 0, null],
      sum: [1, 9, 9, 8, null, null],
      mean: [1, 3, 3, 4, null, null],
      minimum: [1, 1, 1, 3, null, null],
      maximum: [1, 5, 5, 5, null, null],
    };
    const view = { entities: ["who"], eventTime: "at" };
    for (const found of await bothOf(steps, columns, rows, { view })) expectColumns(found, expected);
  });
});
