import { curveLines } from "../../cli/commands/metrics";

const size = { columns: 3, rows: 2 };
const points = (...values: readonly number[]) => values.map((value, step) => ({ step: 10 * step, value, time: 0 }));

describe("a curve in the terminal", () => {
  it("goes from the first step to the last and from the least value to the greatest", () => {
    // Six dots wide, eight high: from the lower left (row 7) over rows 6, 4, 3 and 1 to the upper right (row 0).
    expect(curveLines(points(0, 1, 2, 3, 4, 5), size, String)).toEqual(["5 ┤⠀⢀⠊", "0 ┤⡠⠁⠀", "   0 50"]);
  });

  it.each([
    ["nothing to show", [], []],
    ["no number", points(Number.NaN, Number.POSITIVE_INFINITY), []],
    ["one point", points(7), ["7 ┤⠀⠀⠀", "7 ┤⠀⠈⠀", "   0"]],
  ])("of %s", (_what, some, lines) => {
    expect(curveLines(some, size, String)).toEqual(lines);
  });
});
