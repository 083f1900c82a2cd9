import { numberFormatProblem, numberReading } from "../../../core/datasets/number-format";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { InvalidInputError, type Problem } from "../../../core/errors";

/** Reads text as the push does. */
function read(format: string, text: string): number | undefined {
  const { pattern, group, decimal, negative } = numberReading(format);
  const signed =
    negative === undefined
      ? text
      : text.replace(new RegExp(negative), negative.startsWith("^([^(]") ? "-$1$2$3" : "-$1$2");
  const match = new RegExp(`^${pattern}$`).exec(signed);
  if (match === null) return undefined;
  const number = match.slice(1, 4).join("");
  return Number((group === "" ? number : number.replaceAll(group, "")).replaceAll(decimal, "."));
}

describe("number formats", () => {
  it.each([
    ["1.234,5", "1.234.567,25", 1_234_567.25],
    ["1.234,5", "1234567,25", 1_234_567.25],
    ["1.234,5", "-12", -12],
    ["1.234,5", "1.23", undefined],
    ["1.234,5", "0.123", undefined],
    ["1.234", "12.345", 12_345],
    ["1.234", "12.34", undefined],
    ["1.234", "12,34", 12.34],
    ["1,234", "12.34", 12.34],
    ["1,234.5", "1,2345", undefined],
    ["1234,5", "+0,5e-3", 0.0005],
    ["1 234,5", "12 345,5", 12_345.5],
    ["1'234.5", "1'000", 1_000],
    ["$1,234.5", "-$1,000.5", -1_000.5],
    ["$1,234.5", "$-1,000.5", -1_000.5],
    ["$1,234.5", "1,000.5", undefined],
    ["CHF 1234.5", "CHF 3", 3],
    ["1234 %", "50 %", 50],
    ["1234 %", "50", undefined],
    ["(1234)", "(50)", -50],
    ["(1234)", "50", 50],
    ["(1,234.5)", "(1,234.50)", -1_234.5],
    ["(1,234.5)", "((5))", undefined],
    ["($1,234.5)", "($1,234.50)", -1_234.5],
    ["($1,234.5)", "$(1,234.50)", -1_234.5],
    ["($1,234.5)", "$1,234.50", 1_234.5],
    ["($1,234.5)", "-$3", -3],
    ["($1,234.5)", "3", undefined],
    ["1.234,5-", "1.234,50-", -1_234.5],
    ["1.234,5-", "3", 3],
  ])("%s reads %s as %s", (format, text, number) => {
    expect(numberFormatProblem(format)).toBeUndefined();
    expect(read(format, text)).toBe(number);
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
    ["a real-valued label", "columns:\n  - {name: x, type: float}\n  - {name: y, type: float, role: label}\n"],
    [
      "stratifyBy: null",
      "columns:\n  - {name: x, type: float}\n  - {name: y, type: int, role: label}\nsplit: {stratifyBy: null}\n",
    ],
  ])("stratifies by nothing with %s", (_case, text) => {
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
    const text = [
      "columns:", // 1
      "  - name: pixels", // 2
      "    type: tensor", // 3
      "  - name: label", // 4
      "    type: integer", // 5
      "    role: label", // 6
      "    nulable: true", // 7
      "split:", // 8
      "  seed: -1", // 9
    ].join("\n");
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

  it.each([
    ["no label", "columns: [{name: x, type: int}]", "columns", /exactly one column of role label, and none has it/],
    [
      "two labels",
      "columns: [{name: x, type: int}, {name: a, type: int, role: label}, {name: b, type: int, role: label}]",
      "columns",
      /exactly one column of role label, and a, b have it/,
    ],
    ["no feature", "columns: [{name: y, type: int, role: label}]", "columns", /at least one column of role feature/],
    [
      "a name with a blank at its end",
      "columns: [{name: 'x ', type: int}, {name: y, type: int, role: label}]",
      "columns[0].name",
      /no blank at its ends/,
    ],
    [
      "a name with a line break",
      'columns: [{name: "x\\ny", type: int}, {name: y, type: int, role: label}]',
      "columns[0].name",
      /control character/,
    ],
    [
      "the name __proto__",
      "columns: [{name: __proto__, type: int}, {name: y, type: int, role: label}]",
      "columns[0].name",
      /must not be __proto__/,
    ],
    [
      "names that differ by case alone",
      "columns: [{name: x, type: int}, {name: X, type: int}, {name: y, type: int, role: label}]",
      "columns[1].name",
      /must differ from the name of columns\[0\]/,
    ],
    [
      "a tensor without shape",
      "columns: [{name: x, type: tensor}, {name: y, type: int, role: label}]",
      "columns[0].shape",
      /is required/,
    ],
    [
      "a nullable label",
      "columns: [{name: x, type: int}, {name: y, type: int, role: label, nullable: true}]",
      "columns[1].nullable",
      /every row needs a label/,
    ],
    [
      "a tensor for a label",
      "columns: [{name: x, type: int}, {name: y, type: tensor, shape: [2], role: label}]",
      "columns[1].type",
      /for the label/,
    ],
    [
      "minimum above maximum",
      "columns: [{name: x, type: int, minimum: 2, maximum: 1}, {name: y, type: int, role: label}]",
      "columns[0].minimum",
      /at most the maximum, 1/,
    ],
    [
      "values of another type",
      "columns: [{name: x, type: string, values: [a, 1]}, {name: y, type: int, role: label}]",
      "columns[0].values",
      /must all be strings/,
    ],
    [
      "fractions that do not add up",
      "columns: [{name: x, type: int}, {name: y, type: int, role: label}]\nsplit: {fractions: {train: 0.5, validation: 0.1, test: 0.1}}",
      "split.fractions",
      /must add up to 1, not 0\.7/,
    ],
    [
      "an unknown column to stratify by",
      "columns: [{name: x, type: int}, {name: y, type: int, role: label}]\nsplit: {stratifyBy: z}",
      "split.stratifyBy",
      /must name a column/,
    ],
    ["no YAML", "columns: [", "", /./],
    ["an empty file", "", "", /must be a mapping/],
  ])("refuses %s", (_case, text, path, rule) => {
    expect(problemsOf(text)).toEqual([
      expect.objectContaining({ path, rule: expect.stringMatching(rule), line: expect.any(Number) }),
    ]);
  });
});
