import {
  decideContract,
  describeViolation,
  shownViolations,
  violationsText,
} from "../../../../core/datasets/contract/report";
import { type DataContract, parseDataContract } from "../../../../core/datasets/contract/rules";
import type { InvalidInputError } from "../../../../core/errors";

function problemsOf(text: string): readonly string[] {
  try {
    parseDataContract(text);
  } catch (error) {
    return (error as InvalidInputError).details.problems.map(({ path, line, rule }) => `${line} ${path} ${rule}`);
  }
  return [];
}

describe("a contract file", () => {
  it("gets its defaults", () => {
    const { rules } = parseDataContract("rules:\n  - {rule: notNull, column: x}\n");
    expect(rules).toEqual([{ rule: "notNull", column: "x", severity: "block", tolerance: 0 }]);
  });

  it.each([
    ["{rule: notNul, column: x}", /rules\[0\]\.rule must be one of/],
    ["{rule: range, column: x}", /rules\[0\] must have a minimum or a maximum/],
    ["{rule: range, column: x, minimum: 3, maximum: 2}", /minimum must be at most the maximum, 2/],
    ["{rule: range, column: x, minimum: '2026-13-01'}", /must be a number, or a time in ISO 8601/],
    ["{rule: range, column: x, minimum: '2026-01-01', maximum: 3}", /must be of the minimum's type/],
    ["{rule: pattern, column: x, pattern: '['}", /must be a regular expression/],
    ["{rule: pattern, column: x, pattern: 'a(?=b)'}", /no look-ahead/],
    ["{rule: pattern, column: x, pattern: '(a)\\1'}", /no reference to a group/],
    ["{rule: freshness, column: x, maxAge: yesterday}", /must be a whole number with m, h, d or w/],
    ["{rule: unique, columns: [a, a]}", /must name each column once/],
    ["{rule: expression, expression: 'a -- b'}", /must not have the operator --/],
    ["{rule: expression, expression: 'price >'}", /^2 rules\[0\]\.expression must have a value after >$/],
    ["{rule: values, column: x, values: [1, a]}", /must all be of one type/],
    ["{rule: statistic, column: x, statistic: quantile, minimum: 1}", /probability is required for a quantile/],
    ["{rule: statistic, column: x, statistic: mean}", /must have a minimum or a maximum/],
    ["{rule: notNull, column: x, tolerance: 1}", /tolerance must be less than 1/],
    ["{rule: notNull, column: x, mostly: 0.9}", /is not a known key/],
  ])("%s is refused with line and rule", (rule, expected) => {
    expect(problemsOf(`rules:\n  - ${rule}\n`).join("\n")).toMatch(expected);
  });

  it("reports two rules of one name", () => {
    const one = "  - {rule: notNull, column: x, name: here}\n";
    expect(problemsOf(`rules:\n${one}${one}`)).toEqual(["3 rules[1].name must differ from the name of rules[0]"]);
  });
});

describe("the decision", () => {
  const at = "2026-01-02T00:00:00.000Z";
  const contract = (text: string): DataContract => parseDataContract(`rules:\n${text}`);
  const decided = (text: string, ...found: Parameters<typeof decideContract>[1]) =>
    decideContract(contract(text), found, { dataset: { name: "d" }, rows: 100, at });

  it.each([
    ["- {rule: notNull, column: x, tolerance: 0.05}", { rows: 5 }, "passed"],
    ["- {rule: notNull, column: x, tolerance: 0.05}", { rows: 6 }, "blocked"],
    ["- {rule: notNull, column: x, severity: warn}", { rows: 1 }, "warned"],
    ["- {rule: type, column: x, type: int}", { measured: "float" }, "blocked"],
    ["- {rule: rowCount, minimum: 101}", {}, "blocked"],
    ["- {rule: rowCount, minimum: 100, maximum: 100}", {}, "passed"],
    ["- {rule: freshness, column: x, maxAge: 24h}", { measured: "2026-01-01T00:00:00.000Z" }, "passed"],
    ["- {rule: freshness, column: x, maxAge: 24h}", { measured: "2025-12-31T23:59:59.999Z" }, "blocked"],
    ["- {rule: freshness, column: x, maxAge: 24h}", {}, "blocked"],
    ["- {rule: statistic, column: x, statistic: mean, minimum: 1, maximum: 2}", { measured: 2.5 }, "blocked"],
    ["- {rule: drift, column: x, baseline: 1, maximum: 0.2}", { measured: 0.2 }, "passed"],
    ["- {rule: drift, column: x, baseline: previous, maximum: 0.2}", { skipped: "no earlier version" }, "passed"],
    ["- {rule: notNull, column: x}", { problem: "there is no column x" }, "blocked"],
  ])("%s with %j is %s", (text, found, status) => expect(decided(text, found).status).toBe(status));

  it("gives a run's record at most 50 violations and 100 kB of samples, those that block first", () => {
    const rules = Array.from(
      { length: 60 },
      (_rule, i) => `- {rule: notNull, column: c${i}${i < 55 ? ", severity: warn" : ""}}`,
    );
    const samples = [1, 2, 3, 4].map((row) => ({ row, values: { [`c${"x".repeat(1_000)}`]: "é".repeat(80) } }));
    const report = decided(rules.join("\n"), ...rules.map(() => ({ rows: 4, samples })));
    const shown = shownViolations(report);
    expect(shown.slice(0, 6).map(({ columns }) => columns[0])).toEqual(["c55", "c56", "c57", "c58", "c59", "c0"]);
    expect([shown.length, shown[0]!.samples.length, shown.at(-1)!.samples.length]).toEqual([50, 3, 0]);
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(150_000);
  });

  it("describes each violation with its rows, and bounds the text", () => {
    const found = { rows: 2, samples: [{ row: 17, values: { x: null } }] };
    const { outcomes } = decided("- {rule: notNull, column: x, name: there}", found);
    expect(describeViolation(outcomes[0]!, 100)).toBe(
      "there: x must not be missing: 2 rows (2 %), first row 17: x = null",
    );
    const many = Array.from({ length: 90 }, () => outcomes[0]!);
    expect(violationsText(many)).toMatch(/; and \d\d more$/);
    expect(violationsText(many).length).toBeLessThan(2_020);
  });
});
