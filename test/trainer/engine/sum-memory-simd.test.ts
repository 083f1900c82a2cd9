import { simdInSumMemory } from "../../../trainer-container/engine/wasm/sum-memory-simd";
import { allocateSum, inSumMemory, releaseSum } from "../../../trainer-container/kernels/sum-memory";

describe("the kernels over the memory of sums", () => {
  it("see what others have allocated since, though the memory has grown", () => {
    const simd = simdInSumMemory()!;
    const leaf = allocateSum(20_000_000);
    expect(inSumMemory(leaf)).toBe(true);
    leaf[leaf.length - 1] = 7;
    const view = simd.floats(leaf.byteOffset, leaf.length);
    expect([view.length, view.at(-1)]).toEqual([20_000_000, 7]);
    releaseSum(leaf);
  });
});
