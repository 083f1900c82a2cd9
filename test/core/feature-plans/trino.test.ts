import { compilePlan, selectFeatures } from "../../../core/feature-plans/compile";
import { trino } from "../../../core/feature-plans/dialects";
import type { PlanColumn } from "../../../core/feature-plans/shapes";
import { fitRows, planOf } from "./engines";

const columns: readonly PlanColumn[] = [
  { name: "x", type: "float" },
  { name: "s", type: "string" },
  { name: "t", type: "timestamp" },
  { name: "b", type: "bool" },
];
const rows = [
  { x: 1, s: "a", t: 0, b: true },
  { x: 3, s: "it's", t: 1, b: false },
];

/** Each step with the text that Trino gets for its (first) output. `test/peers/trino.test.ts` runs random ones. */
const cases: readonly (readonly [step: object, sql: string])[] = [
  [{ kind: "number", column: "b" }, 'CASE WHEN "b" THEN 1E0 WHEN NOT "b" THEN 0E0 END'],
  [{ kind: "standardize", column: "x", impute: "mean" }, '((coalesce("x", 2E0) - 2E0) / nullif(1E0, 0E0))'],
  [
    { kind: "minmax", column: "x", clip: true },
    'CASE WHEN (("x" - 1E0) / nullif(2E0, 0E0)) < 0E0 THEN 0E0 WHEN (("x" - 1E0) / nullif(2E0, 0E0)) > 1E0 THEN 1E0 ELSE (("x" - 1E0) / nullif(2E0, 0E0)) END',
  ],
  [{ kind: "robust", column: "x" }, '(("x" - 2E0) / nullif(1E0, 0E0))'],
  [{ kind: "log", column: "x" }, 'ln(CASE WHEN ("x" + 1E0) > 0E0 THEN ("x" + 1E0) END)'],
  [
    { kind: "bucketize", column: "x", boundaries: [0, 1.5] },
    'CASE WHEN "x" < 0E0 THEN 0E0 WHEN "x" < 1.5E0 THEN 1E0 WHEN "x" IS NOT NULL THEN 2E0 END',
  ],
  [
    { kind: "one-hot", column: "s", impute: "none" },
    "element_at(CAST(json_parse('{\"a\":0,\"it''s\":1}') AS MAP(VARCHAR, DOUBLE)), coalesce(\"s\", 'none'))",
  ],
  [
    { kind: "ordinal", column: "x" },
    'coalesce(element_at(CAST(json_parse(\'{"1":0,"3":1}\') AS MAP(VARCHAR, DOUBLE)), CAST(CAST(CASE WHEN "x" = floor("x") AND abs("x") < 9007199254740992E0 THEN "x" END AS BIGINT) AS VARCHAR)), (-1E0))',
  ],
  [
    { kind: "hash", column: "b", buckets: 8 },
    'CAST(from_base(substr(to_hex(md5(to_utf8(CAST("b" AS VARCHAR)))), 1, 8), 16) % 8 AS DOUBLE)',
  ],
  [
    { kind: "target", column: "s", target: "x", foldBy: "t", folds: 2, smoothing: 0 },
    'coalesce(element_at(CAST(json_parse(\'{"a":1,"it\'\'s":3}\') AS MAP(VARCHAR, DOUBLE)), "s"), 2E0)',
  ],
  [{ kind: "length", column: "s" }, 'CAST(length("s") AS DOUBLE)'],
  [{ kind: "ngrams", column: "s", buckets: 2 }, 'CAST(cardinality(filter("ngrams:y", b -> b = 0)) AS DOUBLE)'],
  [
    { kind: "date", column: "t", part: "dayOfYear" },
    "CAST(day_of_year(date_add('day', CAST(CASE WHEN abs(floor((\"t\" / nullif(8.64E7, 0E0)))) <= 99E6 THEN floor((\"t\" / nullif(8.64E7, 0E0))) END AS BIGINT), DATE '1970-01-01')) AS DOUBLE)",
  ],
  [
    { kind: "cycle", column: "x", period: 4 },
    'sin(CASE WHEN is_finite((("x" - 0E0) * 1.5707963267948966E0)) THEN (("x" - 0E0) * 1.5707963267948966E0) END)',
  ],
  [
    { kind: "ratio", numerator: "x", denominator: "x" },
    '(CASE WHEN is_finite("x") THEN "x" END / nullif(CASE WHEN is_finite("x") THEN "x" END, 0E0))',
  ],
  [
    { kind: "product", columns: ["x", "x"] },
    '(CASE WHEN is_finite(CASE WHEN is_finite("x") THEN "x" END) THEN CASE WHEN is_finite("x") THEN "x" END END * CASE WHEN is_finite("x") THEN "x" END)',
  ],
];

describe("Trino's SQL", () => {
  it.each(cases)("of %j", async (step, sql) => {
    const view = planOf([{ name: "y", ...step }], { entities: ["s"], eventTime: "t" });
    const plan = compilePlan(await fitRows(view, columns, rows));
    expect(plan.outputs[0]!.value.sql(trino)).toBe(sql);
  });

  it("reads columns in canonical form", async () => {
    const plan = compilePlan(
      await fitRows(
        planOf([
          { kind: "ngrams", column: "s", n: 2, buckets: 2, name: "y" },
          { kind: "date", column: "t", part: "days" },
          { kind: "product", columns: ["x", "b"], name: "p" },
        ]),
        columns,
        rows,
      ),
    );
    expect(selectFeatures(plan, trino, "houses", ["id"])).toBe(
      'SELECT "kept:id" AS "id", CAST(cardinality(filter("ngrams:y", b -> b = 0)) AS DOUBLE) AS "y_0", CAST(cardinality(filter("ngrams:y", b -> b = 1)) AS DOUBLE) AS "y_1", floor(("t" / nullif(8.64E7, 0E0))) AS "t_date", (CASE WHEN is_finite(CASE WHEN is_finite("x") THEN "x" END) THEN CASE WHEN is_finite("x") THEN "x" END END * CASE WHEN is_finite(CASE WHEN "b" THEN 1E0 WHEN NOT "b" THEN 0E0 END) THEN CASE WHEN "b" THEN 1E0 WHEN NOT "b" THEN 0E0 END END) AS "p" FROM (SELECT *, CASE WHEN length("s") >= 2 THEN transform(sequence(1, least(length("s"), 1000) - 2 + 1), i -> from_base(substr(to_hex(md5(to_utf8(substr("s", i, 2)))), 1, 8), 16) % 2) WHEN "s" IS NOT NULL THEN CAST(ARRAY[] AS ARRAY(BIGINT)) END AS "ngrams:y" FROM (SELECT CASE WHEN NOT is_nan(CAST("x" AS DOUBLE)) THEN CAST("x" AS DOUBLE) END AS "x", CAST("s" AS VARCHAR) AS "s", CAST(date_diff(\'millisecond\', TIMESTAMP \'1970-01-01 00:00:00\', CAST("t" AS TIMESTAMP(3))) AS DOUBLE) AS "t", CAST("b" AS BOOLEAN) AS "b", "id" AS "kept:id", 1 AS "row:present" FROM houses) AS canonical) AS extended',
    );
  });

  it("of a window", async () => {
    const view = planOf([{ kind: "window", column: "x", aggregate: "mean", over: "2h" }], {
      entities: ["s"],
      eventTime: "t",
    });
    const [window] = compilePlan(await fitRows(view, columns, rows)).intermediates;
    expect(window?.value.sql(trino)).toBe(
      'CASE WHEN "t" IS NOT NULL THEN CAST(avg(CASE WHEN is_finite("x") THEN "x" END) OVER (PARTITION BY "s" ORDER BY "t" RANGE BETWEEN 7.2E6 PRECEDING AND CURRENT ROW) AS DOUBLE) END',
    );
  });

  it("of a cross", async () => {
    const steps = [
      { kind: "cross", columns: ["s", "b"], name: "sb" },
      { kind: "length", column: "sb", name: "y" },
    ];
    const [output] = compilePlan(await fitRows(planOf(steps), columns, rows)).outputs;
    expect(output?.value.sql(trino)).toBe('CAST(length(("s" || chr(31) || CAST("b" AS VARCHAR))) AS DOUBLE)');
  });
});
