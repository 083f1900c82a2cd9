import { fitTable, shownText } from "../../cli/output";

const head = ["RUN", "NAME", "metrics.validation/loss", "NOTE"];
const rows = [
  ["run-0123456789abcdef", "a name that is rather long", "0.25", "good"],
  ["run-2", "b", "1.5e-7", "a remark of some length"],
];
const widthOf = ({ head: titles, rows: lines }: ReturnType<typeof fitTable>): number =>
  titles.reduce((sum, title, at) => sum + 2 + Math.max(title.length, ...lines.map((line) => line[at]!.length)), 0);

describe("a table", () => {
  it("is made narrower by its longest words; ids and numbers stay whole", () => {
    const fitted = fitTable(head, rows, 70);
    expect(widthOf(fitted)).toBe(70);
    expect(fitted.left).toEqual([]);
    expect(fitted.rows.map(([run]) => run)).toEqual(["run-0123456789abcdef", "run-2"]);
    expect(fitted.rows.map((row) => row[2])).toEqual(["0.25", "1.5e-7"]);
    expect(fitted.head[2]).toMatch(/^….*\/loss$/);
    expect(fitted.rows[0]![1]).toMatch(/^a name.*…$/);
  });

  it("leaves columns out where that is not enough, and says which", () => {
    const fitted = fitTable(head, rows, 40);
    expect(fitted.left).toEqual(["metrics.validation/loss", "NOTE"]);
    expect(widthOf(fitted)).toBeLessThanOrEqual(40);
    // The first column is what the others are requested by.
    expect(fitTable(head, rows, 5).rows.map((row) => row[0])).toEqual(["run-0123456789abcdef", "run-2"]);
  });

  it("cuts a time to the minute, and no further", () => {
    const row = ["a", "2026-03-01 12:00:05", "x".repeat(40)];
    expect(fitTable(["A", "B", "C"], [row], 34).rows[0]).toEqual(["a", "2026-03-01 12:00", `${"x".repeat(10)}…`]);
  });

  it.each(["13m 20s", "105.9 KB", "0.5 (-0.25) *", "$0.0123", "99.5 %", "−3.4"])("does not cut %s", (number) => {
    const fitted = fitTable(["A", "B", "C"], [["a", number, "x".repeat(40)]], 36);
    expect(fitted.rows[0]![1]).toBe(number);
  });
});

it("a terminal obeys nothing that a name says, but for colours", () => {
  expect(shownText("a\u001b[2Jb\u001b]0;title\u0007c\r\u009bd")).toBe("a\ufffd[2Jb\ufffd]0;title\ufffdc\ufffd\ufffdd");
  expect(shownText("\u001b[31mred\u001b[39m\nnext ü 漢")).toBe("\u001b[31mred\u001b[39m\nnext ü 漢");
});
