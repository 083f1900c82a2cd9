import {
  blockSquares,
  globalNorm,
  normBlockCount,
  normBlockElements,
  normOfBlocks,
} from "../../../trainer-container/optimizer/clip";

const wild = (length: number) => Float32Array.from({ length }, (_, i) => Math.sin(i * 12.9898) * 2 ** (i % 40));

describe("the norm's blocks", () => {
  it("sum every fourth element apart and add them as (0 + 2) + (1 + 3)", () => {
    const sums = new Float64Array(1);
    blockSquares(Float32Array.from([1, 2, 3, 4, 5, 6, 7]), 7, sums);
    expect(sums[0]).toBe(1 + 25 + (9 + 49) + (4 + 36 + 16)); // 140
    const big = 2 ** 30;
    blockSquares(Float32Array.from([big, 1, -big, 1, 0, 1]), 6, sums);
    expect(sums[0]).toBe(2 ** 60 + 2 ** 60 + 3);
  });

  it.each([0, 1, 3, 1023, 1024, 1025, 4096, 5000])(
    "of %i elements are the same wherever the vector is cut",
    (length) => {
      const gradients = wild(length + 10);
      const blocks = normBlockCount(length);
      const whole = new Float64Array(blocks);
      blockSquares(gradients, length, whole);
      for (let cut = 0; cut <= blocks; cut += 1) {
        const parts = new Float64Array(blocks);
        blockSquares(gradients.subarray(0, cut * normBlockElements), length, parts, 0, cut);
        blockSquares(gradients.slice(cut * normBlockElements), length, parts, cut, blocks);
        expect(parts).toEqual(whole);
      }
      expect(globalNorm(gradients, length)).toBe(normOfBlocks(whole));
    },
  );
});
