import * as fs from "node:fs";
import * as path from "node:path";
import { countRepeats, writeHashes } from "../../../adapters/duckdb/repeated-rows";
import { createSplits } from "../../../adapters/duckdb/splits";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { mulberry32 } from "../../../core/datasets/split";

/** Compares by brute force. @param rows value and split of each row */
function expected(rows: readonly (readonly [number, number])[]) {
  const splits = new Map<number, number[]>();
  for (const [value, split] of rows) splits.set(value, [...(splits.get(value) ?? []), split]);
  const test = rows.filter(([, split]) => split === 2);
  return {
    rows: rows.length,
    repeats: rows.length - splits.size,
    testRows: test.length,
    leaked: test.filter(([value]) => splits.get(value)!.includes(0)).length,
    crossing: [...splits.values()].filter((own) => new Set(own).size > 1).length,
  };
}

it.each([2 ** 22, 700])(
  "rows in several files are compared as if they were in one table, %s at once",
  async (atOnce) => {
    const random = mulberry32(7);
    const rows = Array.from({ length: 5_000 }, () => [Math.floor(random() * 1_500), Math.floor(random() * 3)] as const);
    await withDuckDb(async (session) => {
      await session.run("CREATE TABLE whole (value INTEGER)");
      await session.run(`INSERT INTO whole VALUES ${rows.map(([value]) => `(${value})`).join(", ")}`);
      const files: string[] = [];
      for (const [from, to] of [
        [0, 100],
        [100, 100],
        [100, 3_000],
        [3_000, 5_000],
      ] as const) {
        // biome-ignore format: parts
        const part = `(SELECT value FROM whole WHERE rowid >= ${from} AND rowid < ${to})`;
        const splitOf = Uint8Array.from(rows.slice(from, to), ([, split]) => split);
        await createSplits(session, splitOf);
        const hashes = await writeHashes(session, part, ["value"], { splits: true, firstRow: from });
        files.push(path.join(session.directory, `${files.length}.parquet`));
        fs.renameSync(hashes, files.at(-1)!);
      }
      const { examples, crossingRows, ...counts } = await countRepeats(session, files, 4, atOnce);
      expect(counts).toEqual(expected(rows));
      const [one, other] = crossingRows!.map((row) => rows[row]!);
      expect(one![0]).toBe(other![0]);
      expect(one![1]).not.toBe(other![1]);
      expect(examples).toHaveLength(4);
      for (const row of examples) {
        const same = rows.flatMap(([value], place) => (value === rows[row]![0] ? [place] : []));
        expect(same.indexOf(row)).toBe(1);
      }
    });
  },
);

it("rows without one of the columns repeat nothing, and no rows have none", async () => {
  await withDuckDb(async (session) => {
    const table = "(SELECT * FROM (VALUES (1, NULL), (1, NULL), (1, 2), (1, 2)) AS t(a, b))";
    const hashes = await writeHashes(session, table, ["a", "b"], { complete: true });
    expect(await countRepeats(session, [hashes], 9)).toMatchObject({ rows: 2, repeats: 1, examples: [3] });
    const none = await writeHashes(session, "(SELECT 1 AS a WHERE false)", ["a"]);
    expect(await countRepeats(session, [none], 9)).toMatchObject({ rows: 0, repeats: 0, leaked: 0, examples: [] });
  });
});
