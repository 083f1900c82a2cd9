import fc from "fast-check";
import { type Codes, likeMatcher, type Places, placesIn, segmentOf } from "../../../../core/tracking/search/like";
import { rounds } from "../../../support/rounds";

/** LIKE by its definition: after each character of the pattern, the numbers of characters of the text that it can have taken. */
function like(pattern: readonly string[], text: readonly string[]): boolean {
  let reached = Array.from({ length: text.length + 1 }, (_, i) => i === 0);
  for (const one of pattern) {
    const next = reached.map((_, i) => i > 0 && reached[i - 1] === true && (one === "_" || one === text[i - 1]));
    reached = one === "%" ? reached.map((_, i) => reached.slice(0, i + 1).includes(true)) : next;
  }
  return reached[text.length] === true;
}

const lowered = (text: string): readonly string[] => [...text.toLowerCase()];
const codes = (text: string): number[] => [...text].map((one) => one.codePointAt(0)!);
const text = (letters: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { maxLength }).map((all) => all.join(""));

/** Counts the elements that are read. */
function counted<T extends ArrayLike<number>>(of: T, count: { reads: number }): T {
  return new Proxy(of, {
    get(target, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) count.reads += 1;
      return Reflect.get(target, name, target);
    },
  });
}

describe("LIKE", () => {
  it.each([
    ["short texts", ["a", "b", "B", "_", "%", "😀", "\ud83d", "\ude00"], 12],
    ["texts of several blocks", ["a", "a", "a", "b"], 3_000],
  ])("answers as its definition does: %s", (_what, letters, maxLength) => {
    const pattern = text(["a", "a", "b", "B", "_", "%", "😀", "\ude00"], 8);
    fc.assert(
      fc.property(pattern, text(letters, maxLength), fc.boolean(), (wanted, given, ignoreCase) => {
        const expected = ignoreCase ? like(lowered(wanted), lowered(given)) : like([...wanted], [...given]);
        expect(likeMatcher(wanted, ignoreCase)(given)).toBe(expected);
      }),
      { seed: 41, numRuns: rounds(maxLength > 100 ? 20 : 300) },
    );
  });

  it.each([0, 1, 31, 32, 33, 1_023, 1_024, 1_025, 2_047, 2_100])("finds a segment at place %i", (place) => {
    const given = `${"-".repeat(place)}a-b${"-".repeat(40)}a-b`;
    for (const [segment, end] of [
      ["a_b", place + 3],
      ["_a_b", place === 0 ? place + 46 : place + 3],
      ["a-b", place + 3],
      ["a_b___", place + 6],
    ] as const) {
      const wanted = new Set(codes(segment));
      const found = segmentOf(codes(segment)).endIn(codes(given), 0, given.length, placesIn(codes(given), wanted));
      expect([segment, found]).toEqual([segment, end]);
    }
  });

  it.each(["a".repeat(500), `${"a".repeat(250)}b${"a".repeat(249)}`])(
    "reads each character of the text once for a segment without _",
    (segment) => {
      const count = { reads: 0 };
      const given: Codes = counted(codes(`${"a".repeat(499)}b`.repeat(10)), count);
      expect(segmentOf(codes(`${segment}c`)).endIn(given, 0, 5_000, () => undefined)).toBe(-1);
      expect(count.reads).toBe(5_000);
    },
  );

  it("reads a word for 32 places and each character other than _ of a segment with _", () => {
    const count = { reads: 0 };
    const given = codes("a".repeat(10_240));
    const found = placesIn(given, new Set(codes("a")));
    const places: Places = (code) => counted(found(code)!, count);
    const segment = segmentOf(codes("_a".repeat(300)));
    expect(segment.endIn(given, 0, 599, places)).toBe(-1);
    expect(count.reads).toBe(0);
    expect(segment.endIn(given, 0, 10_240, places)).toBe(600);
    expect(count.reads).toBe(300 * 33);
  });

  it("stops at a character that the text does not have", () => {
    const segment = segmentOf(codes("_a_c"));
    const requested: number[] = [];
    const end = segment.endIn(codes("aaaa"), 0, 4, (code) => {
      requested.push(code);
      return undefined;
    });
    expect([end, requested]).toEqual([-1, codes("a")]);
  });
});
