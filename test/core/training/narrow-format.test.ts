import {
  addPackedInJavaScript,
  type NarrowFormat,
  packedLayout,
  packInJavaScript,
  roundings,
  unpackInJavaScript,
} from "../../../core/training/narrow-format";

const { bfloat16, float16 } = roundings;

describe("rounding to 16 bits", () => {
  it.each<[NarrowFormat, string, number, number]>([
    ["bfloat16", "one", 1, 0x3f80],
    ["bfloat16", "a tie to the even one below", 1 + 2 ** -8, 0x3f80],
    ["bfloat16", "a tie to the even one above", 1 + 3 * 2 ** -8, 0x3f82],
    ["bfloat16", "just above a tie", 1 + 2 ** -8 + 2 ** -23, 0x3f81],
    ["bfloat16", "a negative number", -2.5, 0xc020],
    ["bfloat16", "minus zero", -0, 0x8000],
    ["bfloat16", "the greatest float32", 3.4028234663852886e38, 0x7f80],
    ["bfloat16", "the least float32", 2 ** -149, 0],
    ["bfloat16", "a subnormal", 2 ** -133, 1],
    ["bfloat16", "NaN", Number.NaN, 0x7fc0],
    ["bfloat16", "minus infinity", Number.NEGATIVE_INFINITY, 0xff80],
    ["float16", "one", 1, 0x3c00],
    ["float16", "a tie to the even one below", 1 + 2 ** -11, 0x3c00],
    ["float16", "a tie to the even one above", 1 + 3 * 2 ** -11, 0x3c02],
    ["float16", "minus two and a half", -2.5, 0xc100],
    ["float16", "the greatest", 65_504, 0x7bff],
    ["float16", "what rounds down to the greatest", 65_519, 0x7bff],
    ["float16", "what rounds up to infinity", 65_520, 0x7c00],
    ["float16", "far too large", -1e30, 0xfc00],
    ["float16", "the least normal", 2 ** -14, 0x0400],
    ["float16", "the greatest subnormal", 2 ** -14 - 2 ** -24, 0x03ff],
    ["float16", "the least subnormal", -(2 ** -24), 0x8001],
    ["float16", "half of it, to even", 2 ** -25, 0],
    ["float16", "more than half of it", 2 ** -25 * 1.001, 1],
    ["float16", "minus zero", -0, 0x8000],
    ["float16", "NaN", Number.NaN, 0x7e00],
    ["float16", "infinity", Number.POSITIVE_INFINITY, 0x7c00],
  ])("%s: %s", (format, _, value, half) => expect(roundings[format].encode(Math.fround(value))).toBe(half));

  it.each([
    ["bfloat16", bfloat16, 0x7f80],
    ["float16", float16, 0x7c00],
  ] as const)("%s gives back every one of its own values", (_, { encode, decode }, infinity) => {
    for (let half = 0; half < 0x10000; half++) {
      if ((half & 0x7fff) > infinity) expect(decode(half)).toBeNaN();
      else if (encode(decode(half)) !== half) throw new Error(`${half} came back as ${encode(decode(half))}`);
    }
  });

  it.each([
    ["bfloat16", bfloat16, 0x7f7f],
    ["float16", float16, 0x7bff],
  ] as const)("%s takes the nearer neighbour, of two as near the even one", (_, { encode, decode }, greatest) => {
    for (let half = 0; half < greatest; half++) {
      const [below, above] = [decode(half), decode(half + 1)];
      const middle = (below + above) / 2;
      const gap = above - below;
      const even = half % 2 === 0 ? half : half + 1;
      const got = [middle - gap / 4, middle, middle + gap / 4].map((value) => encode(value));
      if (got.join() !== [half, even, half + 1].join()) throw new Error(`between ${below} and ${above}: ${got}`);
    }
  });
});

describe("a packed vector", () => {
  it("has two narrow elements a word, then the exact ones", () => {
    expect(packedLayout(5, 3)).toEqual({ narrow: 5, exact: 3, exactFrom: 3, words: 6 });
    expect(packedLayout(4, 0)).toEqual({ narrow: 4, exact: 0, exactFrom: 2, words: 2 });
  });

  it("rounds, adds and rounds again", () => {
    const [a, b, out] = [2, 2, 2].map((length) => new Float32Array(length));
    packInJavaScript("bfloat16", Float32Array.of(1, 3, 1 + 2 ** -9), 2, a!);
    packInJavaScript("bfloat16", Float32Array.of(2 ** -8, -1, 4), 1, b!);
    addPackedInJavaScript("bfloat16", out!, a!, b!);
    const sums = new Float32Array(3);
    unpackInJavaScript("bfloat16", out!, sums);
    expect([...sums]).toEqual([2, 5, 6]);
    expect(new Uint16Array(a!.buffer)[3]).toBe(0);
  });
});
