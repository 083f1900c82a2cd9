import { profiledQuantiles } from "../../core/datasets/profile";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { type DuckDbSession, quoteName } from "./session";

/** The table that `countValues` makes: `value#` and `rows#`, the most frequent values first. Missing values are a row. */
export const valueCounts = '"counts#"';
/** The largest number of values of a table. Of a column with more, the most frequent ones are kept. */
const maxValues = 100_000;

/**
 * Counts the rows of each value of a column. Statistics of a column with few values are then exact and need no other pass.
 *
 * @returns whether the table has all values
 */
export async function countValues(session: DuckDbSession, table: string, { name }: ColumnSchema): Promise<boolean> {
  const column = quoteName(name);
  await session.run(
    `CREATE OR REPLACE TEMP TABLE ${valueCounts} AS SELECT ${column} AS "value#", count(*) AS "rows#" FROM ${table}
     GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${maxValues + 1}`,
  );
  const [found] = await session.rows(`SELECT count(*) AS "values#" FROM ${valueCounts}`);
  return Number(found!["values#"]) <= maxValues;
}

/** Returns a query with the statistics of a column of which all values are counted. */
export function countedStatistics({ type }: ColumnSchema): string {
  const base = `sum("rows#") FILTER (WHERE "value#" IS NOT NULL) AS count, sum("rows#") AS rows, count("value#") AS "distinct"`;
  if (type === "string") {
    return `SELECT ${base}, min(length("value#")) AS min, max(length("value#")) AS max FROM ${valueCounts}`;
  }
  const mean = `sum(number * "rows#") FILTER (WHERE number IS NOT NULL) / sum("rows#") FILTER (WHERE number IS NOT NULL)`;
  const numbers = `SELECT *, CAST("value#" AS DOUBLE) AS number FROM ${valueCounts}`;
  if (type === "bool") {
    return `SELECT ${base}, ${mean} AS mean FROM (SELECT *, CAST(CAST("value#" AS INTEGER) AS DOUBLE) AS number FROM ${valueCounts})`;
  }
  // `below` is the number of rows with a value of at most this one; a value is at the positions before it.
  const ordered = `SELECT *, sum("rows#") OVER (ORDER BY number) AS below FROM (${numbers}) WHERE number IS NOT NULL`;
  const at = (position: string): string => `min(number) FILTER (WHERE below > ${position})`;
  const quantiles = profiledQuantiles.map((share) => {
    const position = `((all_rows - 1) * ${share})`;
    const [low, high] = [at(`floor(${position})`), at(`ceil(${position})`)];
    return `${low} + (${high} - ${low}) * (any_value(${position}) - floor(any_value(${position})))`;
  });
  return `WITH numbers AS (${numbers}), totals AS (SELECT ${base}, min("value#") AS min, max("value#") AS max, ${mean} AS mean FROM numbers),
    spread AS (SELECT sqrt(sum("rows#" * (number - mean) ** 2) / any_value(count)) AS std FROM numbers, totals WHERE number IS NOT NULL),
    ranks AS (SELECT [${quantiles.join(", ")}] AS quantiles FROM (${ordered}), (SELECT count AS all_rows FROM totals))
    SELECT totals.*, std, CASE WHEN count > 0 THEN quantiles END AS quantiles FROM totals, spread, ranks`;
}
