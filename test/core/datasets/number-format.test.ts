import { numberFormatProblem, numberReading } from "../../../core/datasets/number-format";

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
