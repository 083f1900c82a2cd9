import { randomBytes } from "node:crypto";
import { digestsIn } from "../../../core/reclamation/digests";

const digest = (character: string) => character.repeat(64);

async function found(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const bytes = Buffer.from(text);
  const ends = [...cuts, bytes.length];
  const chunks = ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
  const digests: string[] = [];
  for await (const one of digestsIn(chunks)) digests.push(one);
  return digests;
}

it.each([
  ["a whole text", digest("a"), [digest("a")]],
  ["JSON", `{"sha256":"${digest("a")}","other":"${digest("b")}"}`, [digest("a"), digest("b")]],
  ["a key", `teams/red/cas/sha256/${digest("c")}`, [digest("c")]],
  ["63 digits", `"${"a".repeat(63)}"`, []],
  ["65 digits", `"${"a".repeat(65)}"`, []],
  ["a long number", `"${"a".repeat(1000)}"`, []],
  ["capital letters", digest("A"), []],
  ["nothing", "", []],
])("finds the digests in %s", async (_what, text, expected) => {
  expect(await found(text)).toEqual(expected);
});

it("finds a digest wherever the chunks are cut", async () => {
  const text = `{"x":"${digest("a")}","y":"${"b".repeat(65)}","z":"${digest("d")}"}`;
  for (let first = 0; first <= text.length; first += 1) {
    expect(await found(text, [first])).toEqual([digest("a"), digest("d")]);
    const second = Math.min(text.length, first + 70);
    expect(await found(text, [first, second])).toEqual([digest("a"), digest("d")]);
  }
});

it("finds what a search by a regular expression finds, in random texts", async () => {
  for (let round = 0; round < 300; round += 1) {
    const lengths = Array.from({ length: 12 }, () => [3, 63, 64, 64, 65, 128, 200][randomBytes(1)[0]! % 7]!);
    const text = lengths.map((length) => randomBytes(length).toString("hex").slice(0, length)).join("-");
    const expected = text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g) ?? [];
    const cuts = [randomBytes(2).readUInt16BE() % text.length, randomBytes(2).readUInt16BE() % text.length].sort(
      (a, b) => a - b,
    );
    expect(await found(text, cuts)).toEqual(expected);
  }
});
