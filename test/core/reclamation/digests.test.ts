import { randomBytes } from "node:crypto";
import { sha256 } from "../../../core/digest";
import { objectKeys, teamIncomingPrefix, teamPrefix } from "../../../core/object-keys";
import { DigestSet, digestsIn } from "../../../core/reclamation/digests";
import { kindOf, teamOf } from "../../../core/reclamation/ports";

it("has everything that was added, and hardly anything else", () => {
  const count = 4_000;
  const set = DigestSet.forCount(count, 3);
  for (let i = 0; i < count; i += 1) set.add(sha256(`in ${i}`));
  const read = DigestSet.of(set.bytes, 3);
  let wrong = 0;
  for (let i = 0; i < count; i += 1) {
    expect(read.has(sha256(`in ${i}`))).toBe(true);
    if (read.has(sha256(`out ${i}`))) wrong += 1;
  }
  expect(wrong / count).toBeLessThan(0.005);
});

it("confuses other digests with another salt", () => {
  const added = Array.from({ length: 90_000 }, (_, i) => sha256(`in ${i}`));
  const confused = (salt: number) => {
    const set = DigestSet.forCount(1, salt);
    for (const digest of added) set.add(digest);
    return new Set(Array.from({ length: 1_000 }, (_, i) => sha256(`out ${i}`)).filter((digest) => set.has(digest)));
  };
  const [first, second] = [confused(1), confused(2)];
  expect(first.size).toBeGreaterThan(10);
  const both = [...first].filter((digest) => second.has(digest)).length;
  expect(both).toBeLessThan(first.size / 2);
});

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

const named = "a".repeat(64);
const team = teamPrefix("red");

it.each([
  [`${team}${objectKeys.content(named)}`, { kind: "content", digest: named }],
  [`${team}${objectKeys.tensors("run-1", 7, named)}`, { kind: "tensors", digest: named }],
  [
    `${team}${objectKeys.trainingFile("run-1", named)}`,
    { kind: "result-file", contentKey: `${team}${objectKeys.content(named)}` },
  ],
  [`${team}${objectKeys.checkpointManifest("run-1", 7)}`, { kind: "document" }],
  [`${team}${objectKeys.trainingResult("run-1")}`, { kind: "document" }],
  [`${team}${objectKeys.featureManifest(named)}`, { kind: "document" }],
  [`${team}${objectKeys.tensorPin("run-1", "run-2", 7)}`, { kind: "document" }],
  [`${team}cas/sha256/${named}.json`, { kind: "document" }],
  [`${team}${objectKeys.inbox(`digits/${named}`)}`, { kind: "opaque" }],
  [`${teamIncomingPrefix("red")}${named}`, { kind: "opaque" }],
  ["teams/.reclamation/cycle/1", { kind: "opaque" }],
])("%s", (key, expected) => {
  expect(kindOf(key)).toEqual(expected);
});

it("names the team of a key", () => {
  expect([`${team}a`, teamIncomingPrefix("red"), "elsewhere"].map(teamOf)).toEqual(["red", undefined, undefined]);
});
