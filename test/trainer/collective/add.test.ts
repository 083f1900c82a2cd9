import { add } from "../../../trainer-container/kernels/add";
import { allocateSum, kernelFor, releaseSum } from "../../../trainer-container/kernels/sum-memory";
import { makeLeaves, sameBits } from "./support";

const heap = (values: Float32Array): Float32Array => values.slice();
const shared = (values: Float32Array): Float32Array => {
  const copy = allocateSum(values.length);
  copy.set(values);
  return copy;
};

describe("add", () => {
  it("has a WebAssembly kernel here", () => {
    expect(kernelFor(allocateSum(1), allocateSum(1), allocateSum(1))).toBeDefined();
    expect(kernelFor(allocateSum(1), new Float32Array(1), allocateSum(1))).toBeUndefined();
  });

  it.each([0, 1, 3, 4, 15, 16, 17, 31, 64, 1_003])(
    "gives the bits of one float32 addition each, %i of them",
    (count) => {
      const [a, b] = makeLeaves(2, count + 7, count + 1) as [Float32Array, Float32Array];
      const expected = new Float32Array(count + 7).fill(9);
      for (let i = 0; i < count; i++) expected[2 + i] = Math.fround(a[5 + i]! + b[1 + i]!);
      for (const place of [heap, shared]) {
        const out = place(new Float32Array(count + 7).fill(9));
        add(out, 2, place(a), 5, place(b), 1, count);
        expect(sameBits(out, expected)).toBe(true);
      }
    },
  );

  it("rounds ties to even, keeps subnormals, overflows to infinity", () => {
    const tie = 2 ** 24;
    const tiny = 2 ** -149;
    const largest = 3.4028234663852886e38;
    const a = Float32Array.of(tie, tie + 2, tiny, tiny, largest, -0, 0, Number.POSITIVE_INFINITY);
    const b = Float32Array.of(1, 1, tiny, -tiny, largest, -0, -0, 1);
    const sums = Float32Array.of(tie, tie + 4, 2 * tiny, 0, Number.POSITIVE_INFINITY, -0, 0, Number.POSITIVE_INFINITY);
    for (const place of [heap, shared]) {
      const out = place(a);
      // Twice as long as a vector turn, so that both the SIMD loop and the rest see every case.
      const long = (values: Float32Array) => place(Float32Array.from([...values, ...values, ...values]));
      const [longA, longB, longOut] = [long(a), long(b), long(sums)];
      add(longA, 0, longA, 0, longB, 0, 24);
      expect(sameBits(longA, longOut)).toBe(true);
      add(out, 0, out, 0, place(b), 0, 8);
      expect(sameBits(out, sums)).toBe(true);
    }
  });

  it("refuses a range that is not within its array, for the kernel would write elsewhere", () => {
    const [out, a, b] = [allocateSum(4), allocateSum(4), allocateSum(4)];
    expect(() => add(out, 1, a, 0, b, 0, 4)).toThrow("[1, 5) was requested, but the array has 4 elements");
    expect(() => add(out, 0, a, -1, b, 0, 2)).toThrow(RangeError);
    expect(() => add(out, 0, a, 0, b, 0.5, 2)).toThrow(RangeError);
  });
});

describe("allocateSum", () => {
  it("keeps earlier buffers when the memory grows", () => {
    const first = allocateSum(3);
    first.set([1, 2, 3]);
    const large = allocateSum(1_000_000);
    expect(kernelFor(first, large, first)).toBeDefined();
    add(large, 999_997, first, 0, first, 0, 3);
    expect([...large.subarray(999_997)]).toEqual([2, 4, 6]);
    releaseSum(large);
  });

  it("gives released memory out again, as zeros, neighbours as one", () => {
    const [a, b, end] = [allocateSum(16), allocateSum(32), allocateSum(16)];
    a.fill(7);
    b.fill(7);
    releaseSum(a);
    releaseSum(b);
    const whole = allocateSum(48);
    expect(whole.byteOffset).toBe(a.byteOffset);
    expect(whole.every((value) => value === 0)).toBe(true);
    const next = allocateSum(1);
    expect(next.byteOffset).toBeGreaterThanOrEqual(end.byteOffset + end.byteLength);
  });

  it("gives buffers that do not overlap", () => {
    const buffers = [1, 16, 17, 100, 1].map(allocateSum);
    const places = buffers.map(({ byteOffset, byteLength }) => [byteOffset, byteOffset + byteLength] as const);
    places.sort(([a], [b]) => a - b);
    places.slice(1).forEach(([start], i) => {
      expect(start).toBeGreaterThanOrEqual(places[i]![1]!);
    });
  });
});
