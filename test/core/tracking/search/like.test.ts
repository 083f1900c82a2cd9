import fc from "fast-check";
import { likeMatcher } from "../../../../core/tracking/search/like";
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
const text = (letters: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { maxLength }).map((all) => all.join(""));

describe("LIKE", () => {
  it.each([
    ["short texts", ["a", "b", "B", "_", "%", ".", "$", "\n", "😀", "\ud83d", "\ude00"], 12],
    ["long texts", ["a", "a", "a", "b"], 3_000],
  ])("answers as its definition does: %s", (_what, letters, maxLength) => {
    const pattern = text(["a", "a", "b", "B", "_", "%", ".", "$", "\\", "[", "😀", "\ud83d", "\ude00"], 8);
    fc.assert(
      fc.property(pattern, text(letters, maxLength), fc.boolean(), (wanted, given, ignoreCase) => {
        const expected = ignoreCase ? like(lowered(wanted), lowered(given)) : like([...wanted], [...given]);
        expect(likeMatcher(wanted, ignoreCase)(given)).toBe(expected);
      }),
      { seed: 41, numRuns: rounds(maxLength > 100 ? 20 : 300) },
    );
  });

  it("takes a line end for a character like any other", () => {
    for (const pattern of ["_", "%\n%", "a_b"])
      expect(likeMatcher(pattern, false)(pattern.replace("_", "\n").replaceAll("%", ""))).toBe(true);
  });
});
