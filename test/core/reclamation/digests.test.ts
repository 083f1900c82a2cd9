import { sha256 } from "../../../core/digest";
import { DigestSet } from "../../../core/reclamation/digests";

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
