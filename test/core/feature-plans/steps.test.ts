import { createHash } from "node:crypto";
import type { PlanColumn } from "../../../core/feature-plans/shapes";
import type { RawRow } from "../../../core/row-values";
import { agree, applyRows, applyTable, type Features, fitRows, planOf, useDuckDb, writeTable } from "./engines";

const inf = Number.POSITIVE_INFINITY;
const day = 86_400_000;

type Case = readonly [
  name: string,
  steps: readonly object[],
  type: PlanColumn["type"],
  values: readonly unknown[],
  expected: Readonly<Record<string, readonly unknown[]>>,
];

/** The number that a text's bucket is the remainder of. */
const hash = (text: string) => createHash("md5").update(text).digest().readUInt32BE(0);
const utc = (text: string) => Date.parse(`${text}Z`);

/** Each case has one column `x`. Expectations are worked by hand. */
const cases: readonly Case[] = [
  [
    "number passes a value on",
    [{ kind: "number", column: "x", name: "y" }],
    "float",
    [1.5, null, inf],
    { y: [1.5, null, inf] },
  ],
  [
    "number takes a bool as 0 and 1",
    [{ kind: "number", column: "x", name: "y" }],
    "bool",
    [true, false, null],
    { y: [1, 0, null] },
  ],
  [
    "NaN is missing, and imputed by the mean of the others",
    [{ kind: "number", column: "x", name: "y", impute: "mean", indicator: true }],
    "float",
    [1, Number.NaN, null, 5],
    { y: [1, 3, 3, 5], y_missing: [0, 1, 1, 0] },
  ],
  [
    "the median imputes as NumPy interpolates; infinities do not count",
    [{ kind: "number", column: "x", name: "y", impute: "median" }],
    "float",
    [1, 2, 4, 10, null, inf],
    { y: [1, 2, 4, 10, 3, inf] },
  ],
  // Mean 3, population variance ((1-3)² + 0 + (5-3)²) / 3 = 8/3.
  [
    "standardize subtracts the mean and divides by the population deviation",
    [{ kind: "standardize", column: "x", name: "y" }],
    "float",
    [1, 3, 5, null, -inf],
    { y: [-2 / Math.sqrt(8 / 3), 0, 2 / Math.sqrt(8 / 3), null, -inf] },
  ],
  [
    "a constant column is only centred",
    [{ kind: "standardize", column: "x", name: "y" }],
    "float",
    [0.1, 0.1, 0.1],
    { y: [0, 0, 0] },
  ],
  [
    "minmax maps the training range to 0 … 1",
    [{ kind: "minmax", column: "x", name: "y" }],
    "float",
    [2, 4, 10, null],
    { y: [0, 0.25, 1, null] },
  ],
  // Quartiles of 1, 2, 3, 4, 5: 2, 3, 4.
  [
    "robust subtracts the median and divides by the interquartile range",
    [{ kind: "robust", column: "x", name: "y" }],
    "int",
    [1, 2, 3, 4, 5, null],
    { y: [-1, -0.5, 0, 0.5, 1, null] },
  ],
  [
    "log is that of x + offset, and missing where that is not above 0",
    [{ kind: "log", column: "x", name: "y" }],
    "float",
    [0, Math.E - 1, -1, -5, null, inf],
    { y: [0, 1, null, null, null, inf] },
  ],
  [
    "bucketize counts the boundaries that are at most x",
    [{ kind: "bucketize", column: "x", name: "y", boundaries: [0, 10] }],
    "float",
    [-1, 0, 9.99, 10, inf, null],
    { y: [0, 1, 1, 2, 2, -1] },
  ],
  // Quantiles 0.5 of 1, 2, 3, 4: 2.5.
  [
    "bucketize by quantiles fits its boundaries",
    [{ kind: "bucketize", column: "x", name: "y", quantiles: 2 }],
    "int",
    [1, 2, 3, 4, null],
    { y: [0, 0, 1, 1, -1] },
  ],
  [
    "one-hot has the categories of the training rows in order",
    [{ kind: "one-hot", column: "x", name: "y" }],
    "string",
    ["b", "a", null, "b", "", "it's"],
    { y: [2, 1, -1, 2, 0, 3] },
  ],
  [
    "a whole number is a category, another number is none",
    [{ kind: "one-hot", column: "x", name: "y" }],
    "float",
    [10, 2, -0, 0.5, inf],
    { y: [2, 1, 0, -1, -1] },
  ],
  [
    "rare categories are unseen",
    [{ kind: "one-hot", column: "x", name: "y", minCount: 2 }],
    "string",
    ["a", "b", "a"],
    { y: [0, -1, 0] },
  ],
  [
    "the job may give the categories, and replace missing ones",
    [{ kind: "one-hot", column: "x", name: "y", values: ["z", "none"], impute: "none" }],
    "string",
    ["z", "a", null],
    { y: [0, -1, 1] },
  ],
  [
    "ordinal numbers categories, and has a number for unknown ones",
    [{ kind: "ordinal", column: "x", name: "y", values: [true, false], unknown: 9 }],
    "bool",
    [true, false, null],
    { y: [0, 1, 9] },
  ],
  [
    "hash is the text's MD5 modulo the buckets",
    [{ kind: "hash", column: "x", name: "y", buckets: 1000 }],
    "string",
    ["a", "𝄞é", "", null],
    { y: [hash("a") % 1000, hash("𝄞é") % 1000, hash("") % 1000, -1] },
  ],
  [
    "length counts code points",
    [{ kind: "length", column: "x", name: "y" }],
    "string",
    ["", "é𝄞", "abc", null],
    { y: [0, 2, 3, null] },
  ],
  [
    "ngrams count the buckets of all n successive characters",
    [{ kind: "ngrams", column: "x", name: "y", n: 2, buckets: 2 }],
    "string",
    ["aaa", "a", null, "𝄞bé"],
    {
      y_0: [hash("aa") % 2 === 0 ? 2 : 0, 0, null, [hash("𝄞b"), hash("bé")].filter((each) => each % 2 === 0).length],
      y_1: [hash("aa") % 2 === 1 ? 2 : 0, 0, null, [hash("𝄞b"), hash("bé")].filter((each) => each % 2 === 1).length],
    },
  ],
  [
    "date gives parts in UTC, also before 1970 and in leap years",
    (
      ["year", "month", "day", "dayOfYear", "dayOfWeek", "hour", "minute", "minuteOfDay", "weekend", "days"] as const
    ).map((part) => ({ kind: "date", column: "x", name: part, part })),
    "timestamp",
    [utc("2024-03-01T13:45:59"), utc("1969-12-31T23:59:00"), null],
    {
      year: [2024, 1969, null],
      month: [3, 12, null],
      day: [1, 31, null],
      dayOfYear: [61, 365, null], // 31 + 29 + 1
      dayOfWeek: [5, 3, null], // a Friday, a Wednesday
      hour: [13, 23, null],
      minute: [45, 59, null],
      minuteOfDay: [825, 1439, null],
      weekend: [0, 0, null],
      days: [utc("2024-03-01T00:00:00") / day, -1, null],
    },
  ],
  [
    "cycle of a part has its sine and cosine",
    [{ kind: "cycle", column: "x", name: "y", part: "hour" }],
    "timestamp",
    [utc("2024-03-01T06:00:00"), utc("2024-03-01T12:00:00"), null],
    { y_sin: [1, 0, null], y_cos: [0, -1, null] },
  ],
  [
    "cycle of a number has its period; an infinite one is missing",
    [{ kind: "cycle", column: "x", name: "y", period: 360 }],
    "float",
    [90, inf, null],
    { y_sin: [1, null, null], y_cos: [0, null, null] },
  ],
  [
    "minmax with clip keeps rows outside of the training range inside",
    [{ kind: "minmax", column: "x", name: "y", clip: true }],
    "float",
    [0, 2, null, 1, inf, -inf],
    { y: [0, 1, null, 0.5, 1, 0] },
  ],
  [
    "a later step reads the result of an earlier one, which need not be a feature",
    [
      { kind: "log", column: "x", name: "x", offset: 0, output: false },
      { kind: "standardize", column: "x", name: "y" },
    ],
    "float",
    [1, Math.E ** 2, null],
    { y: [-1, 1, null] },
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

  it.each(cases)("%s", async (_name, steps, type, values, expected) => {
    const rows = values.map((x) => ({ x }));
    for (const found of await bothOf(steps, [{ name: "x", type }], rows)) expectColumns(found, expected);
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
    const columns = [
      { name: "a", type: "float" as const },
      { name: "b", type: "float" as const },
    ];
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
    const columns = [
      { name: "a", type: "string" as const },
      { name: "b", type: "bool" as const },
    ];
    for (const found of await bothOf(steps, columns, rows)) expectColumns(found, { y: [2, 1, 0, -1] });
  });

  it("target encodes training rows by the other folds, and other rows by all", async () => {
    const columns = [
      { name: "c", type: "string" as const },
      { name: "label", type: "int" as const },
      { name: "id", type: "int" as const },
    ];
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
    const columns = ["c", "label", "id"].map((name) => ({ name, type: "string" as const }));
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
    const columns = [
      { name: "who", type: "string" as const },
      { name: "at", type: "timestamp" as const },
      { name: "x", type: "float" as const },
    ];
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
