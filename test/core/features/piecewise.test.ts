import { fitPieces, writePieces } from "../../../core/features/piecewise";
import { RowSample } from "../../../core/features/row-sample";

const many = 1_000;
const boundariesOf = (numbers: readonly number[], pieces: number, rows = many) =>
  fitPieces(Float64Array.from(numbers), rows, pieces)?.boundaries;

describe("pieces of a number", () => {
  it.each([
    ["as many numbers in each", [1, 2, 3, 4, 5, 6, 7, 8], 4, [1, 2, 4, 6, 8]],
    ["few values: a boundary each", [0, 1, 2], 16, [0, 1, 2]],
    ["a frequent least value: the others are divided", [0, 0, 0, 0, 0, 0, 1, 2, 3, 4], 2, [0, 2, 4]],
    ["a frequent value in the middle", [1, 2, 5, 5, 5, 5, 5, 5, 8, 9], 4, [1, 5, 8, 9]],
    ["two values: the number alone is enough", [0, 0, 1, 1], 16, undefined],
    ["one value", [3, 3, 3], 16, undefined],
    ["no values", [], 16, undefined],
  ])("has %s", (_case, numbers, pieces, expected) => {
    expect(boundariesOf(numbers, pieces)).toEqual(expected);
  });

  it("has at least 32 training rows", () => {
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    expect([63, 64, 95, 96].map((rows) => boundariesOf(numbers, 16, rows)?.length)).toEqual([undefined, 3, 3, 4]);
  });

  it("is the share of the way between two boundaries, centred and halved", () => {
    const fitted = fitPieces(Float64Array.of(0, 4, 7, 10), many, 2);
    // Shares of the first piece: 0, 1, 1, 1. Of the second: 0, 0, 0.5, 1.
    expect(fitted).toEqual({ boundaries: [0, 4, 10], means: [0.75, 0.375], scale: 0.5 });
    const written = new Float32Array(8);
    for (const [row, number] of [-7, 2, 7, 99].entries()) writePieces(number, fitted!, written, 2 * row);
    const expected = [-0.375, -0.1875, -0.125, -0.1875, 0.125, 0.0625, 0.125, 0.3125];
    for (const [i, value] of written.entries()) expect(value).toBeCloseTo(expected[i]!, 6);
  });
});

describe("a sample of rows", () => {
  it("is the same in any parts, and bounded", () => {
    const add = (sample: RowSample, from: number, to: number) => {
      for (let row = from; row < to; row += 1) sample.add(row, () => [row, row % 3 === 0 ? null : -row]);
      return sample;
    };
    const whole = add(new RowSample(50), 0, 1_000);
    const merged = new RowSample(50);
    for (const [from, to] of [
      [0, 10],
      [10, 700],
      [700, 1_000],
    ] as const) {
      merged.merge(JSON.parse(JSON.stringify(add(new RowSample(50), from, to).state())));
    }
    expect(whole.state()).toHaveLength(50);
    expect(merged.state()).toEqual(whole.state());
    const [rows, others] = [whole.sorted(0), whole.sorted(1)];
    expect([...rows]).toEqual(
      whole
        .state()
        .map(([, [row]]) => row)
        .sort((a, b) => a! - b!),
    );
    expect([...others]).toEqual(
      [...rows]
        .filter((row) => row % 3 !== 0)
        .map((row) => -row)
        .reverse(),
    );
  });
});
