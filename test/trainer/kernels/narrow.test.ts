import { addPackedInJavaScript, packInJavaScript, unpackInJavaScript } from "../../../core/training/narrow-format";
import { addPacked, pack, unpack } from "../../../trainer-container/kernels/narrow";
import { allocateSum, inSumMemory } from "../../../trainer-container/kernels/sum-memory";

const bits = (values: Float32Array) => [...new Uint32Array(values.slice().buffer)];

/** Every 16-bit pattern in the high half, with low halves around a tie: all signs, exponents, subnormals, infinities and NaN. */
function patterns(low: number): Float32Array {
  const words = Uint32Array.from({ length: 0x10000 }, (_, high) => ((high << 16) | low) >>> 0);
  return new Float32Array(words.buffer);
}

function placed(words: Float32Array, offset: number): Float32Array {
  const copy = allocateSum(words.length + offset).subarray(offset);
  new Uint8Array(copy.buffer, copy.byteOffset, copy.byteLength).set(
    new Uint8Array(words.buffer, words.byteOffset, words.byteLength),
  );
  return copy;
}

describe.each(["bfloat16", "float16"] as const)("%s in kernels", (format) => {
  it.each([0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff])(
    "packs as JavaScript does: low bits %i",
    (low) => {
      const values = patterns(low);
      const plain = new Float32Array(0x8000);
      packInJavaScript(format, values, 0.5, plain);
      const fast = allocateSum(0x8000);
      pack(format, placed(values, 1), 0.5, fast);
      expect(Buffer.from(fast.slice().buffer).equals(Buffer.from(plain.buffer))).toBe(true);
    },
  );

  it("unpacks every pattern as JavaScript does", () => {
    const words = new Float32Array(Uint16Array.from({ length: 0x10000 }, (_, half) => half).buffer);
    const plain = new Float32Array(0x10000);
    unpackInJavaScript(format, words, plain);
    const fast = allocateSum(0x10000);
    unpack(format, placed(words, 3), fast);
    for (let i = 0; i < plain.length; i++) {
      if (!Object.is(fast[i], plain[i])) throw new Error(`${i}: ${fast[i]}, but JavaScript has ${plain[i]}`);
    }
  });

  it("adds as JavaScript does", () => {
    const half = (seed: number) =>
      new Float32Array(Uint16Array.from({ length: 0x10000 }, (_, i) => (i * seed + (i >> 5)) & 0xffff).buffer);
    const [a, b] = [half(40_503), half(9_973)];
    const plain = new Float32Array(a.length);
    addPackedInJavaScript(format, plain, a, b);
    const [x, y] = [placed(a, 1), placed(b, 2)];
    addPacked(format, x, x, y);
    expect(Buffer.from(x.slice().buffer).equals(Buffer.from(plain.buffer))).toBe(true);
  });

  it.each([0, 1, 2, 3, 5, 8, 9, 15, 16, 17, 100])("takes %i elements, here or elsewhere", (length) => {
    const values = Float32Array.from({ length }, (_, i) => Math.sin(i + 1));
    const words = Math.ceil(length / 2);
    const run = (allocate: (size: number) => Float32Array) => {
      const [given, packed, sum, back] = [length, words, words, length].map(allocate);
      given!.set(values);
      pack(format, given!, 4, packed!);
      addPacked(format, sum!, packed!, packed!);
      unpack(format, sum!, back!);
      return back!;
    };
    const here = run(allocateSum);
    expect(inSumMemory(here)).toBe(true);
    expect(bits(here)).toEqual(bits(run((size) => new Float32Array(size))));
    for (const [i, value] of here.entries()) expect(value / 8 / values[i]!).toBeCloseTo(1, 2);
  });

  it("refuses lengths that do not fit", () => {
    expect(() => pack(format, new Float32Array(5), 1, new Float32Array(2))).toThrow("has 2 words, but 3 are needed");
    expect(() => addPacked(format, new Float32Array(2), new Float32Array(2), new Float32Array(1))).toThrow("1 words");
  });
});
