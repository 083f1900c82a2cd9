import fc, { type Arbitrary } from "fast-check";

const repeated = (text: string, times: number): string => `[${Array.from({ length: times }, () => text).join(",")}]`;

const values: readonly (() => string)[] = [
  () => `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  () => `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
  () => `${'{"M":{"a":'.repeat(40)}{"N":"1"}${"}}".repeat(40)}`,
  () => `${"[".repeat(20)}1${"]".repeat(20)}`,
  () => repeated("0", 99_000),
  () => repeated('"x"', 99_000),
  () => repeated("{}", 70_000),
  () => repeated('{"N":"0"}', 70_000),
  () => repeated('{"key":"a","value":1,"timestamp":1,"step":1}', 15_000),
  () => repeated('{"S":"x"}', 150_000),
  () => repeated("0", 3_000_000),
  () => `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":${i}`).join(",")}}`,
  () => `[${Array.from({ length: 60_000 }, (_, i) => `{"k${i}":${i}}`).join(",")}]`,
  () => JSON.stringify("x".repeat(1_000_000)),
  () => JSON.stringify("x".repeat(8_000_000)),
  () => JSON.stringify("\u0001".repeat(150_000)),
  () => JSON.stringify(" ".repeat(500_000)),
  () => JSON.stringify("1".repeat(1_000_000)),
  () => JSON.stringify(`${"a".repeat(50_000)}!`),
  () => JSON.stringify("%25".repeat(100_000)),
  () => JSON.stringify("../".repeat(100_000)),
  () => JSON.stringify(`tags.a LIKE '${"%a".repeat(5_000)}b'`),
  () => JSON.stringify(`tags.a = 'x' ${"AND tags.a = 'x' ".repeat(5_000)}`),
  () => JSON.stringify(`${"(".repeat(50_000)}`),
  () => JSON.stringify(`tags.a IN (${Array.from({ length: 10_000 }, (_, i) => `'${i}'`).join(",")})`),
  () => JSON.stringify(`${"`".repeat(99_999)}`),
  () => JSON.stringify("metrics.".repeat(12_000)),
  () => JSON.stringify("*".repeat(200_000)),
  () => "1".repeat(1_000_000),
];

/** Generates texts of JSON objects with one costly member. They are created when sent, because a few hundred fill the memory. */
export function heavyBodies(names: readonly string[]): Arbitrary<() => string> {
  return fc.tuple(fc.constantFrom(...names, "unknown"), fc.constantFrom(...values)).map(
    ([name, make]) =>
      () =>
        `{${JSON.stringify(name)}:${make()}}`,
  );
}
