import * as path from "node:path";
import { splitNames } from "../../core/datasets/shapes";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { withSplits } from "./splits";

/*
 * Rows that repeat others: by a hash of each row, as Parquet, so that a version whose rows several processes read is
 * compared by one of them, and DuckDB spills what memory does not hold. Of n different rows, two have the same 64-bit
 * hash with a probability of n² / 2⁶⁵: 0.03 % for a hundred million.
 */

/**
 * Writes the hashes of the rows of a canonical table with their numbers.
 *
 * @param options.splits whether `createSplits` has stored the splits of the rows
 * @param options.firstRow number of the first row in the version, from 0
 * @param options.complete leaves out rows in which one of the columns is missing
 * @returns the path of a Parquet file in the session's directory
 */
export async function writeHashes(
  session: DuckDbSession,
  table: string,
  columns: readonly string[],
  options: { readonly splits?: boolean; readonly firstRow?: number; readonly complete?: boolean } = {},
): Promise<string> {
  const { splits = false, firstRow = 0, complete = false } = options;
  const names = columns.map(quoteName);
  const file = path.join(session.directory, "hashes.parquet");
  const isKept = complete ? names.map((name) => `${name} IS NOT NULL`).join(" AND ") : "true";
  await session.run(
    `COPY (SELECT * EXCLUDE ("kept#") FROM (
       SELECT hash(${names.join(", ")}) AS "hash#", row_number() OVER () - 1 + ${firstRow} AS "row#",
              ${splits ? `"split#"` : "0"} AS "split#", ${isKept} AS "kept#"
       FROM ${splits ? withSplits(table) : table}) WHERE "kept#")
     TO ${quoteText(file)} (FORMAT parquet, PARQUET_VERSION v2)`,
  );
  return file;
}

/**
 * Compares the rows of all files of `writeHashes`, by parts of the hashes: DuckDB spills about 45 bytes for each hash
 * that is grouped at once. `repeats` are rows that equal an earlier one, `leaked` are test rows that equal a training
 * row, `crossing` are hashes in more than one split, `crossingRows` are numbers of two rows of one such hash, `examples`
 * are numbers of the second rows of some repeated hashes.
 */
export async function countRepeats(
  session: DuckDbSession,
  files: readonly string[],
  maxExamples = 0,
  hashesAtOnce = 2 ** 23,
) {
  const hashes = `read_parquet([${files.map(quoteText).join(", ")}])`;
  const [train, test] = [splitNames.indexOf("train"), splitNames.indexOf("test")];
  const [counted] = await session.rows(`SELECT count(*) AS rows FROM ${hashes}`);
  const parts = Math.max(1, Math.ceil(Number(counted!["rows"]) / hashesAtOnce));
  const sums = { rows: 0, repeats: 0, testRows: 0, leaked: 0, crossing: 0 };
  const examples: number[] = [];
  let crossingRows: readonly [number, number] | undefined;
  for (let part = 0; part < parts; part += 1) {
    const some = `${hashes} WHERE "hash#" % ${parts} = ${part}`;
    const [totals] = await session.rows(
      `SELECT coalesce(sum(n), 0) AS rows, coalesce(sum(n - 1), 0) AS repeats, coalesce(sum(tested), 0) AS "testRows",
              coalesce(sum(tested) FILTER (trained), 0) AS leaked, count_if(crosses) AS crossing,
              min("firstRow") FILTER (crosses) AS "firstRow", arg_min("otherRow", "firstRow") FILTER (crosses) AS "otherRow"
       FROM (SELECT count(*) AS n, count_if("split#" = ${test}) AS tested, bool_or("split#" = ${train}) AS trained,
                    min("split#") <> max("split#") AS crosses, arg_min("row#", "split#") AS "firstRow",
                    arg_max("row#", "split#") AS "otherRow" FROM ${some} GROUP BY "hash#")`,
    );
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += Number(totals![name]);
    if (Number(totals!["crossing"]) > 0) crossingRows ??= [Number(totals!["firstRow"]), Number(totals!["otherRow"])];
    if (Number(totals!["repeats"]) === 0 || examples.length >= maxExamples) continue;
    const seconds = await session.rows(
      `SELECT min("row#", 2)[2] AS row FROM ${some} AND "hash#" IN (SELECT "hash#" FROM ${some} GROUP BY 1
         HAVING count(*) > 1 ORDER BY 1 LIMIT ${maxExamples - examples.length}) GROUP BY "hash#" ORDER BY "hash#"`,
    );
    examples.push(...seconds.map(({ row }) => Number(row)));
  }
  return { ...sums, examples, crossingRows };
}

/** Returns a profile's shares of rows that repeat others. */
export function sharesOf({ rows, repeats, testRows, leaked }: Awaited<ReturnType<typeof countRepeats>>) {
  return {
    duplicateShare: rows === 0 ? 0 : repeats / rows,
    leakedShare: testRows === 0 ? 0 : leaked / testRows,
  };
}
