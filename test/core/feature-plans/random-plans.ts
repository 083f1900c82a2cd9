import fc from "fast-check";
import type { PlanColumn } from "../../../core/feature-plans/shapes";
import type { RawRow } from "../../../core/row-values";

export const columns: readonly PlanColumn[] = [
  { name: "f", type: "float" },
  { name: 'it\'s "odd"', type: "float" },
  { name: "i", type: "int" },
  { name: "s", type: "string" },
  { name: "u", type: "string" },
  { name: "b", type: "bool" },
  { name: "t", type: "timestamp" },
  { name: "who", type: "string" },
];

const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { freq: 6 });
const texts = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "b",
    "it's",
    '"',
    "a\0b",
    "\ud800",
    "𝄞é𝄞é",
    "x\u001fy",
    "NaN",
    "1",
    "-0",
    "';--",
    "long ".repeat(9),
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);
/** Without the smallest numbers: onnxruntime omits the addition of 1e-300. */
const double = fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => (Math.abs(value) < 1e-30 ? 0 : value));
export const moderate = fc.oneof(fc.integer({ min: -20, max: 20 }), double);
export const extreme = fc.oneof(
  moderate,
  fc.constantFrom(
    0,
    -0,
    Number.NaN,
    1e-320,
    1e300,
    -1e300,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 53,
  ),
);
/** Numbers that a dataset may have. */
export const finite = fc.oneof(moderate, fc.constantFrom(0, -0, 1e300, -1e300, 2 ** 53));
const times = fc.oneof(
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
  fc.integer({ min: 0, max: 2e12 }),
  fc.integer({ min: 0, max: 9 }).map((hours) => hours * 3_600_000),
);
export const rowOf = (floats: fc.Arbitrary<number>): fc.Arbitrary<RawRow> =>
  fc.record({
    f: optional(floats),
    'it\'s "odd"': optional(floats),
    i: optional(fc.integer({ min: -5, max: 5 })),
    s: optional(texts),
    u: optional(fc.constantFrom("a", "b", "c", "it's")),
    b: optional(fc.boolean()),
    t: optional(times),
    who: fc.constantFrom("a", "b"),
  });

const parts = ["month", "day", "dayOfYear", "dayOfWeek", "hour", "minute", "minuteOfDay"] as const;
const flags = { indicator: fc.boolean(), output: fc.boolean() };

/** A step whose inputs are columns or numeric results of the steps before it. */
function stepAfter(results: readonly string[]): fc.Arbitrary<object> {
  const number = fc.constantFrom("f", 'it\'s "odd"', "i", "b", ...results);
  const category = fc.constantFrom("s", "u", "b", "i", "f", ...results);
  const impute = fc.option(fc.oneof(fc.constantFrom("mean", "median"), moderate), { nil: undefined });
  const numeric = { column: number, impute, ...flags };
  const categorical = { column: category, impute: fc.option(fc.constantFrom("none", "a"), { nil: undefined }) };
  const kind = (name: string, fields: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record({ kind: fc.constant(name), ...fields });
  return fc.oneof(
    kind("number", numeric),
    kind("standardize", numeric),
    kind("minmax", { ...numeric, clip: fc.boolean() }),
    kind("robust", numeric),
    kind("log", { ...numeric, offset: moderate }),
    kind("bucketize", { ...numeric, quantiles: fc.integer({ min: 2, max: 5 }) }),
    kind("bucketize", { ...numeric, boundaries: fc.constant([-1, 0, 2.5, 1e6]) }),
    kind("one-hot", { ...categorical, minCount: fc.integer({ min: 1, max: 2 }) }),
    kind("one-hot", { ...categorical, values: fc.constant(["a", "it's", "1", "true"]) }),
    kind("ordinal", { ...categorical, unknown: moderate }),
    kind("hash", { ...categorical, buckets: fc.integer({ min: 2, max: 50 }) }),
    kind("target", {
      ...categorical,
      target: fc.constant("i"),
      foldBy: fc.constantFrom("t", "s", "f"),
      folds: fc.integer({ min: 2, max: 4 }),
      smoothing: fc.constantFrom(0, 10),
    }),
    kind("length", { column: fc.constant("s") }),
    kind("ngrams", {
      column: fc.constantFrom("s", "u"),
      n: fc.integer({ min: 1, max: 3 }),
      buckets: fc.constantFrom(2, 3),
      maxCharacters: fc.constantFrom(3, 100),
    }),
    kind("date", { column: fc.constant("t"), part: fc.constantFrom(...parts, "year", "weekend", "days") }),
    kind("cycle", { column: fc.constant("t"), part: fc.constantFrom(...parts) }),
    kind("cycle", { column: number, period: fc.constantFrom(1, 7.5, 1e-9) }),
    kind("ratio", { numerator: number, denominator: number }),
    kind("product", { columns: fc.array(number, { minLength: 2, maxLength: 3 }) }),
    kind("cross", { columns: fc.array(category, { minLength: 2, maxLength: 3 }) }),
    kind("window", {
      column: fc.constantFrom("i", "b"),
      aggregate: fc.constantFrom("count", "sum", "mean", "minimum", "maximum"),
      over: fc.constantFrom("1s", "2h", "9000d"),
    }),
  );
}

const numericResult = [
  "number",
  "standardize",
  "minmax",
  "robust",
  "log",
  "bucketize",
  "ordinal",
  "ratio",
  "product",
  "date",
];

/** Plans of one to five steps; a step's name is its number, or that of a column. */
export const plans: fc.Arbitrary<readonly object[]> = fc.integer({ min: 1, max: 5 }).chain((count) =>
  Array.from({ length: count }).reduce<fc.Arbitrary<readonly Record<string, unknown>[]>>(
    (before, _, index) =>
      before.chain((steps) => {
        const results = steps
          .filter(({ kind }) => numericResult.includes(kind as string))
          .map(({ name }) => name as string);
        return fc.tuple(stepAfter(results), fc.boolean()).map(([step, hides]) => {
          // A result may hide a column.
          const { kind } = step as { kind: string };
          const name = index === 0 && hides && numericResult.includes(kind) ? "f" : `step ${index}`;
          return [...steps, { output: true, ...step, name }];
        });
      }),
    fc.constant([]),
  ),
);

export const view = { entities: ["who"], eventTime: "t" };
