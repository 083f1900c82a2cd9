import fc from "fast-check";
import { datasetOf, runOf, type TestRun, testRun } from "./runs";

const value = fc.constantFrom(0, 1, -1, 0.5, 2, 1e-4, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
const text = fc.constantFrom("0", "1", "0.5", "1e-4", "adam", "sgd", "Ab", "a%", "x_y", "", "nan", "10", "9");
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const defined = <T>(entries: Readonly<Record<string, T | undefined>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(entries).filter((entry): entry is [string, T] => entry[1] !== undefined));

const few = { loss: optional(value), acc: optional(value) };
const texts = { lr: optional(text), opt: optional(text) };

export function runArbitrary(runId: fc.Arbitrary<string>): fc.Arbitrary<TestRun> {
  return fc
    .record({
      runId,
      metrics: fc.record(few),
      params: fc.record(texts),
      tags: fc.record(texts),
      status: fc.constantFrom("running" as const, "completed" as const, "failed" as const),
      lifecycle: fc.constantFrom("active" as const, "active" as const, "deleted" as const),
      name: text,
      seed: optional(fc.integer({ min: 0, max: 2 })),
      startedAt: fc.integer({ min: 0, max: 3 }),
      datasets: fc.subarray([
        datasetOf("digits", { version: 1 }),
        datasetOf("prices"),
        datasetOf("digits", { version: 2 }),
      ]),
    })
    .map(({ runId: id, metrics, params, tags, seed, ...rest }) =>
      testRun(
        runOf(id, { ...rest, params: defined(params), tags: defined(tags), ...(seed === undefined ? {} : { seed }) }),
        Object.fromEntries(
          // Minimum and maximum are independent of the last value.
          Object.entries(defined(metrics)).map(([name, last]) => [name, [last, last - 1, last + 1, 3]]),
        ),
      ),
    );
}

const numbers = fc.constantFrom("0", "1", "-1", ".5", "1e-4", "2");
const quoted = text.filter((one) => one !== "").map((one) => `'${one}'`);
const letters = fc.constantFrom("'adam'", "'b'", "'Ab'", "'x_y'");
const comparator = fc.constantFrom("=", "!=", "<", "<=", ">", ">=");
const equality = fc.constantFrom("=", "!=");
const metric = fc.constantFrom(
  "metrics.`loss`",
  "metrics.acc",
  "min(metrics.loss)",
  "max(metrics.acc)",
  "step(metrics.loss)",
);
const param = fc.constantFrom("params.`lr`", "params.opt", "tags.lr", "tags.`opt`");
const not = fc.constantFrom("", "NOT ");
const join = (...parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((all) => all.join(" "));
const list = (of: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(of, { minLength: 1, maxLength: 3 }).map((all) => `(${all.join(", ")})`);
const is = (word: string) => fc.constant(word);

const condition: fc.Arbitrary<string> = fc.oneof(
  join(metric, comparator, numbers),
  join(metric, equality, is("NaN")),
  join(fc.oneof(metric, param), not, is("BETWEEN"), numbers, is("AND"), numbers),
  join(metric, not, is("IN"), list(numbers)),
  join(param, comparator, numbers),
  join(param, equality, quoted),
  join(param, comparator, letters),
  join(param, not, is("IN"), list(fc.oneof(quoted, numbers))),
  join(
    fc.oneof(param, is("name")),
    not,
    fc.constantFrom("LIKE", "ILIKE"),
    fc.constantFrom("'a%'", "'%_%'", "'_'", "'AB'", "'%0%'"),
  ),
  join(fc.oneof(metric, param, is("seed"), is("dataset.version")), is("IS"), not, is("NULL")),
  join(is("status"), equality, fc.constantFrom("'running'", "'FINISHED'", "'failed'")),
  join(is("start_time"), comparator, fc.constantFrom("0", "1", "2")),
  join(is("seed"), comparator, fc.constantFrom("0", "1")),
  join(is("dataset.name"), equality, fc.constantFrom("'digits'", "'prices'")),
  join(is("dataset.version"), comparator, fc.constantFrom("1", "2")),
);

/** A filter of our dialect, of every kind of condition, nested. */
export const filterArbitrary: fc.Arbitrary<string> = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    condition,
    tie("filter").map((inner) => `NOT (${inner})`),
    fc.tuple(tie("filter"), tie("filter")).map(([a, b]) => `(${a} AND ${b})`),
    fc.tuple(tie("filter"), tie("filter")).map(([a, b]) => `${a} OR ${b}`),
  ),
})).filter;

export const orderArbitrary: fc.Arbitrary<readonly string[]> = fc.array(
  fc
    .tuple(
      fc.oneof(metric, param, is("name"), is("seed"), is("start_time"), is("status")),
      fc.constantFrom("", " ASC", " DESC"),
    )
    .map(([field, direction]) => `${field}${direction}`),
  { maxLength: 3 },
);
