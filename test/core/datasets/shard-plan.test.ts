import { evenCut, recut } from "../../../core/datasets/shard-plan";

describe("evenCut", () => {
  it.each([
    ["one piece where all fits", 100, 1, 100, [100]],
    ["pieces that differ by one row at most", 10, 1, 4, [3, 3, 4]],
    ["a row a piece where a row is above the limit", 2, 100, 10, [1, 1]],
  ])("gives %s", (_case, rows, bytesPerRow, limit, expected) => {
    expect(evenCut(rows, bytesPerRow, limit)).toEqual(expected);
  });
});

describe("recut", () => {
  it.each([
    ["one piece within the limit", [{ rows: 10, bytes: 100 }]],
    ["pieces within 5 %", [95, 99].map((bytes) => ({ rows: 10, bytes }))],
  ])("leaves %s", (_case, pieces) => {
    expect(recut(pieces, 100)).toBeUndefined();
  });

  it("cuts where the running total of bytes crosses equal shares", () => {
    // 300 bytes into 4 shares of 75: the first 10 rows hold 225, so three cuts at 10/3, 20/3 and 10 rows.
    const pieces = [225, 75].map((bytes) => ({ rows: 10, bytes }));
    expect(recut(pieces, 100)).toEqual([3, 4, 3, 10]);
  });

  it("moves no cut where a few bytes change", () => {
    const pieces = (bytes: number) => [120_000, 120_000, 60_000].map((rows) => ({ rows, bytes: rows * 800 + bytes }));
    const [cut, ...others] = [0, 300, -300, 900].map((bytes) => recut(pieces(bytes), 2 ** 27));
    expect(cut?.reduce((sum, rows) => sum + rows, 0)).toBe(300_000);
    expect(others).toEqual([cut, cut, cut]);
  });

  it("merges pieces that a guess too high made", () => {
    const eight = Array.from({ length: 8 }, () => ({ rows: 5, bytes: 10 }));
    expect(recut(eight, 100)).toEqual([40]);
  });
});
