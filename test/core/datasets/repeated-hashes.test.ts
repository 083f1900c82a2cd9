import { compareHashes, HashCollector } from "../../../core/datasets/repeated-hashes";
import { mulberry32 } from "../../../core/datasets/split";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";

/** Compares by brute force. @param rows hash and split of each row */
function expected(rows: readonly (readonly [bigint, number])[]) {
  const splits = new Map<bigint, number[]>();
  for (const [hash, split] of rows) splits.set(hash, [...(splits.get(hash) ?? []), split]);
  const all = [...splits.values()];
  const test = rows.filter(([, split]) => split === 2);
  const second = (hash: bigint) =>
    rows.findIndex(([one], row) => one === hash && rows.findIndex(([other]) => other === hash) < row);
  const examples = [...splits]
    .flatMap(([hash, own]) => (own.length > 1 ? [hash] : []))
    .sort((a, b) => (a < b ? -1 : 1));
  return {
    examples: examples.slice(0, 4).map((hash) => ({ hash, row: second(hash) })),
    rows: rows.length,
    repeats: rows.length - splits.size,
    testRows: test.length,
    leaked: test.filter(([hash]) => splits.get(hash)!.includes(0)).length,
    crossing: all.filter((own) => new Set(own).size > 1).length,
  };
}

it.each([
  ["one range", 1_000],
  ["several ranges", 2 ** 27],
])("hashes in %s are compared as if they were in one table", async (_case, totalRows) => {
  const random = mulberry32(7);
  const objects = createMemoryObjectStore();
  const rows = Array.from({ length: 5_000 }, () => {
    // Few different values over the whole range, with both ends.
    const value = Math.floor(random() * 1_500);
    const hash = value === 0 ? 0n : value === 1 ? 2n ** 64n - 1n : BigInt(value) * 12_297_829_382_473_034n;
    return [hash, Math.floor(random() * 3)] as const;
  });
  const files = [];
  for (const part of [rows.slice(0, 100), rows.slice(100, 100), rows.slice(100, 3_000), rows.slice(3_000)]) {
    const collector = new HashCollector(totalRows);
    for (const [hash, split] of part) collector.add(hash, split);
    files.push(await collector.store(objects));
  }
  expect(files.map(({ ranges }) => ranges.length)).toEqual(Array(4).fill(totalRows > 1_000 ? 8 : 1));
  const { examples, ...counts } = await compareHashes(objects, files, 4);
  const starts = [0, 100, 100, 3_000];
  const rowsOf = examples.map(({ hash, file, place }) => {
    const own = rows.flatMap(([one], row) => (one === hash && row >= starts[file]! ? [row] : []));
    return { hash, row: own[place - 1] };
  });
  expect({ ...counts, examples: rowsOf }).toEqual(expected(rows));
  expect(await compareHashes(objects, [])).toMatchObject({ rows: 0, repeats: 0 });
});
