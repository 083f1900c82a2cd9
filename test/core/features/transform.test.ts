import type { DuckDBListValue } from "@duckdb/node-api";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { InvalidInputError } from "../../../core/errors";
import type { FeatureTransform } from "../../../core/features/shapes";
import { createRowTransform } from "../../../core/features/transform";
import { vocabularyOf } from "../../../core/features/values";
import { timeOf } from "../../../core/row-values";

const columns: readonly ColumnSchema[] = [
  { name: "x", type: "float", role: "feature", nullable: true },
  { name: "c", type: "string", role: "feature", nullable: true },
  { name: "b", type: "bool", role: "feature", nullable: true },
  { name: "t", type: "timestamp", role: "feature", nullable: true },
  { name: "image", type: "tensor", shape: [1, 2], role: "feature", nullable: true },
];
const transform: FeatureTransform = {
  outputs: [
    { kind: "numeric", column: "x", offset: 0, width: 1, source: 0, mean: 10, deviation: 4 },
    { kind: "one-hot", column: "c", offset: 1, width: 2, source: 0, vocabulary: ["a", "b"] },
    { kind: "one-hot", column: "b", offset: 3, width: 2, source: 1, vocabulary: [false, true] },
    {
      kind: "one-hot",
      column: "t",
      part: "dayOfWeek",
      offset: 5,
      width: 7,
      source: 2,
      vocabulary: vocabularyOf("dayOfWeek"),
    },
    { kind: "numeric", column: "image", offset: 12, width: 2, source: 1, mean: 0, deviation: 2 },
  ],
  width: 14,
  shape: [14],
};
const { apply } = createRowTransform(transform, columns);

describe("createRowTransform", () => {
  it("standardises, sets one-hots and flattens", () => {
    // 2024-02-29 was a Thursday: day 4.
    const row = { x: 12, c: "b", b: true, t: "2024-02-29T23:59:59Z", image: [[1, 3]] };
    expect([...apply([row])]).toEqual([0.5, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5, 1.5]);
  });

  it("gives missing and unknown values no position, and missing numbers the mean", () => {
    const missing = { x: null, b: null, t: null };
    expect([...apply([missing, { c: "unheard of" }])]).toEqual(new Array(28).fill(0));
  });

  it.each([
    ["with an offset", "2024-03-01T01:00:00+02:00", 4],
    ["without one: UTC", "2024-02-29 23:00:00", 4],
    ["a date", "2024-03-01", 5],
    ["in milliseconds", Date.UTC(2024, 1, 29), 4],
    ["before 1970", "1969-12-31T23:59:59Z", 3],
    ["a Date", new Date(Date.UTC(2024, 2, 3)), 0],
  ])("reads a time %s", (_case, t, day) => {
    expect([...apply([{ t }]).subarray(5, 12)].indexOf(1)).toBe(day);
  });

  it("reads texts as times as a push does", async () => {
    const texts = [
      ...["2024-02-30", "2023-02-29", "2024-04-31T10:00:00Z", "2024-13-01", "2024-00-10", "2024-3-1", "2024/03/01"],
      ...["Mar 1 2024", "2024", "20240301", "2024-03-01 24:00", "2024-03-01 24:01", "2024-03-01 10:60", "1-2-3"],
      ...["2024-03-01T10:00:00+0530", "2024-03-01T10:00:00-03", "2024-03-01 1:02:03.0579", "0004-02-29", "1900-02-29"],
      ...["20240-02-29", "2024-03-01 10:00:61", "2024/03-01", "noon"],
    ];
    const listed = texts.map((text) => `'${text}'`).join(", ");
    const [found] = await withDuckDb((session) =>
      session.rows(`SELECT list_transform([${listed}], lambda x: epoch_ms(TRY_CAST(x AS TIMESTAMPTZ))) AS times`),
    );
    const times = (found!["times"] as DuckDBListValue).items;
    // Years of one digit are years of files only.
    const expected = texts.map((text, i) => (text === "1-2-3" || times[i] === null ? Number.NaN : Number(times[i])));
    expect(texts.map(timeOf)).toEqual(expected);
  });

  it("refuses a value whose feature is infinite in float32", () => {
    const pass = () => apply([{ x: 1 }, { x: 1e99 }]);
    expect(pass).toThrow("rows[1].x must give a feature within ±3.4e38, the range of float32");
  });

  it("reports every problem of every row", () => {
    const strict = createRowTransform(
      transform,
      columns.map((column) => ({ ...column, nullable: column.name === "x" })),
    );
    const good = { c: "a", b: 0, t: 0, image: [1, 2] };
    const problems = [
      ["x", "12", "must be a number"],
      ["c", undefined, "value is missing"],
      ["t", "soon", "must be a date or time in ISO 8601"],
      ["image", [1], "must be a list of 2 finite numbers (tensor[1,2])"],
      ["b", "yes", "must be true or false (or 1 or 0)"],
    ] as const;
    const bad = Object.fromEntries(problems.map(([name, value]) => [name, value]));
    let thrown: unknown;
    try {
      strict.apply([good, bad]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidInputError);
    const found = (thrown as InvalidInputError).details.problems;
    expect(new Set(found)).toEqual(
      new Set(problems.map(([name, value, rule]) => ({ path: `rows[1].${name}`, value, rule }))),
    );
  });
});
