import { castTo } from "../../../adapters/duckdb/cast";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { numberFormatProblem } from "../../../core/datasets/number-format";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { InvalidInputError, type Problem } from "../../../core/errors";

const readings: readonly (readonly [format: string, text: string, number: number | null])[] = [
  ["1.234,5", "1.234.567,25", 1_234_567.25],
  ["1.234,5", "1234567,25", 1_234_567.25],
  ["1.234,5", "-12", -12],
  ["1.234,5", "1.23", null],
  ["1.234,5", "0.123", null],
  ["1.234", "12.345", 12_345],
  ["1.234", "12.34", null],
  ["1.234", "12,34", 12.34],
  ["1,234", "12.34", 12.34],
  ["1,234.5", "1,2345", null],
  ["1234,5", "+0,5e-3", 0.0005],
  ["1 234,5", "12 345,5", 12_345.5],
  ["1'234.5", "1'000", 1_000],
  ["$1,234.5", "-$1,000.5", -1_000.5],
  ["$1,234.5", "$-1,000.5", -1_000.5],
  ["$1,234.5", "1,000.5", null],
  ["CHF 1234.5", "CHF 3", 3],
  ["1234 %", "50 %", 50],
  ["1234 %", "50", null],
  ["(1234)", "(50)", -50],
  ["(1234)", "50", 50],
  ["(1,234.5)", "(1,234.50)", -1_234.5],
  ["(1,234.5)", "((5))", null],
  ["($1,234.5)", "($1,234.50)", -1_234.5],
  ["($1,234.5)", "$(1,234.50)", -1_234.5],
  ["($1,234.5)", "$1,234.50", 1_234.5],
  ["($1,234.5)", "-$3", -3],
  ["($1,234.5)", "3", null],
  ["1.234,5-", "1.234,50-", -1_234.5],
  ["1.234,5-", "3", 3],
];

describe("number formats", () => {
  it("read texts in SQL", async () => {
    await withDuckDb(async ({ rows }) => {
      const found = [];
      for (const [format, text] of readings) {
        expect(numberFormatProblem(format)).toBeUndefined();
        const value = castTo({ name: "x", type: "float", role: "feature", format }, "VARCHAR");
        const [row] = await rows(`SELECT ${value} AS number FROM (SELECT '${text.replaceAll("'", "''")}' AS x)`);
        found.push([format, text, row!["number"]]);
      }
      expect(found).toEqual(readings);
    });
  });

  it.each(["1234.5", "1234", "1,234,5", "1.5", "", "#,##0.00", "-1.234,5", "12.34,5"])(
    "does not accept %j",
    (format) => {
      expect(numberFormatProblem(format)).toMatch(/^must show how the file writes 1234.5/);
    },
  );
});

function problemsOf(text: string): readonly Problem[] {
  try {
    parseDatasetSchema(text);
  } catch (error) {
    if (error instanceof InvalidInputError) return error.details.problems;
    throw error;
  }
  return [];
}

describe("parseDatasetSchema", () => {
  it("fills in defaults, and stratifies by a label that has classes", () => {
    expect(parseDatasetSchema("columns:\n  - {name: x, type: float}\n  - {name: y, type: int, role: label}\n")).toEqual(
      {
        columns: [
          { name: "x", type: "float", role: "feature" },
          { name: "y", type: "int", role: "label" },
        ],
        split: { seed: 0, fractions: { train: 0.8, validation: 0.1, test: 0.1 }, stratifyBy: "y" },
      },
    );
  });

  it.each([
    ["float", ""],
    ["int", "split: {stratifyBy: null}"],
  ])("stratifies by nothing with a label of type %s %s", (type, split) => {
    const text = `columns: [{name: x, type: float}, {name: y, type: ${type}, role: label}]\n${split}`;
    expect(parseDatasetSchema(text).split.stratifyBy).toBeUndefined();
  });

  it("gives each column the file's missing tokens, unless it has its own", () => {
    const text = `
missing: [NA, "?", null, -999, NA]
columns:
  - {name: x, type: float}
  - {name: region, type: string, missing: []}
  - {name: at, type: timestamp, format: "%d/%m/%Y", missing: [0]}
  - {name: image, type: tensor, shape: [2]}
  - {name: y, type: int, role: label}
`;
    const missing = ["NA", "?", "null", "-999"];
    expect(parseDatasetSchema(text).columns).toEqual([
      { name: "x", type: "float", role: "feature", missing },
      { name: "region", type: "string", role: "feature" },
      { name: "at", type: "timestamp", role: "feature", format: "%d/%m/%Y", missing: ["0"] },
      { name: "image", type: "tensor", shape: [2], role: "feature" },
      { name: "y", type: "int", role: "label", missing },
    ]);
  });

  it("splits by group or time without strata", () => {
    const columns = "columns:\n  - {name: at, type: timestamp}\n  - {name: y, type: int, role: label}\n";
    const { split } = parseDatasetSchema(`${columns}split: {by: time, column: at}\n`);
    expect(split).toMatchObject({ by: "time", column: "at" });
    expect(split.stratifyBy).toBeUndefined();
  });

  it.each([
    ["{by: time}", /split\.column is required where the split is by time/],
    ["{by: group, column: z}", /split\.column is "z", but must name a column/],
    ["{by: group, column: x}", /must name a column of type int, string, bool where the split is by group/],
    ["{by: time, column: maybe}", /must name a column that is not nullable/],
    ["{by: group, column: y, stratifyBy: y}", /must be left out where the split is by group/],
    ["{column: y}", /must be left out without split\.by/],
  ])("refuses the split %s", (split, message) => {
    const columns =
      "{name: x, type: float}, {name: maybe, type: int, nullable: true}, {name: y, type: int, role: label}";
    expect(() => parseDatasetSchema(`columns: [${columns}]\nsplit: ${split}\n`)).toThrow(message);
  });

  it.each([
    ["{name: x, type: int, format: '%Y'}", /format .* must show how the file writes 1234.5, e.g. 1.234,5/],
    ["{name: x, type: bool, format: '%Y'}", /format .* must be left out: a bool column has no format/],
    ["{name: x, type: timestamp, format: '%d/%m'}", /must have a year/],
    ["{name: x, type: timestamp, format: '%Y-%Q'}", /and %Q is none/],
    ["{name: x, type: tensor, shape: [1], missing: [NA]}", /a tensor has no missing tokens/],
  ])("refuses %s", (column, message) => {
    const text = `columns:\n  - ${column}\n  - {name: y, type: int, role: label}\n`;
    expect(() => parseDatasetSchema(text)).toThrow(message);
  });

  it("reports all problems at once, each with line, path, value and rule", () => {
    const text = `columns:
  - name: pixels
    type: tensor
  - name: label
    type: integer
    role: label
    nulable: true
split:
  seed: -1`;
    expect(problemsOf(text)).toEqual([
      {
        line: 5,
        path: "columns[1].type",
        value: "integer",
        rule: 'must be one of "int", "float", "string", "bool", "timestamp", "tensor"',
      },
      { line: 7, path: "columns[1].nulable", rule: "is not a known key; remove it or check its spelling" },
      { line: 9, path: "split.seed", value: -1, rule: "must be at least 0" },
    ]);
  });

  const [x, y] = ["{name: x, type: int}", "{name: y, type: int, role: label}"];
  const columns = (...all: readonly unknown[]) => `columns: [${all.join(", ")}]`;

  it.each([
    [columns(x), "columns", /exactly one column of role label, and none has it/],
    [columns(x, y, "{name: z, type: int, role: label}"), "columns", /of role label, and y, z have it/],
    [columns(y), "columns", /at least one column of role feature/],
    [columns("{name: 'x ', type: int}", y), "columns[0].name", /no blank at its ends/],
    [columns('{name: "x\\ny", type: int}', y), "columns[0].name", /control character/],
    [columns("{name: __proto__, type: int}", y), "columns[0].name", /must not be __proto__/],
    [columns(x, "{name: X, type: int}", y), "columns[1].name", /must differ from the name of columns\[0\]/],
    [columns("{name: x, type: tensor}", y), "columns[0].shape", /is required/],
    [columns(x, "{name: y, type: int, role: label, nullable: true}"), "columns[1].nullable", /every row needs a label/],
    [columns(x, "{name: y, type: tensor, shape: [2], role: label}"), "columns[1].type", /for the label/],
    [columns("{name: x, type: int, minimum: 2, maximum: 1}", y), "columns[0].minimum", /at most the maximum, 1/],
    [columns("{name: x, type: string, values: [a, 1]}", y), "columns[0].values", /must all be strings/],
    [
      `${columns(x, y)}\nsplit: {fractions: {train: 0.5, validation: 0.1, test: 0.1}}`,
      "split.fractions",
      /to 1, not 0\.7/,
    ],
    [`${columns(x, y)}\nsplit: {stratifyBy: z}`, "split.stratifyBy", /must name a column/],
    ["columns: [", "", /./],
    ["", "", /must be a mapping/],
  ])("refuses %j: %s", (text, path, rule) => {
    expect(problemsOf(text)).toEqual([
      expect.objectContaining({ path, rule: expect.stringMatching(rule), line: expect.any(Number) }),
    ]);
  });
});
