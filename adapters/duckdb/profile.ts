import type { DuckDBArrayValue, DuckDBListValue, DuckDBValue } from "@duckdb/node-api";
import { alikeTexts } from "../../core/datasets/alike-values";
import {
  type Category,
  type ColumnProfile,
  type CountedText,
  exactProfileRows,
  profiledQuantiles,
  valueLimit,
} from "../../core/datasets/profile";
import type { ColumnSchema, ColumnType } from "../../core/datasets/shapes";
import { RunningStats } from "../../core/features/running-stats";
import { readColumns } from "./row-reader";
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
  const [row] = await session.rows(`SELECT count(*) AS "values#" FROM ${valueCounts}`);
  return Number(row!["values#"]) <= maxValues;
}

function countedStatistics({ type }: ColumnSchema): string {
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

export const categorical: readonly ColumnType[] = ["string", "int", "bool"];

type Found = Readonly<Record<string, DuckDBValue>>;

/**
 * Computes statistics of each column of a canonical table. Each column has its own query, so that the memory of one
 * query is released before the next.
 */
export async function profileColumns(
  session: DuckDbSession,
  table: string,
  columns: readonly ColumnSchema[],
  rowCount: number,
): Promise<readonly ColumnProfile[]> {
  const profiles: ColumnProfile[] = [];
  for (const column of columns) {
    profiles.push(
      column.type === "tensor"
        ? await profileTensor(session, table, column)
        : await profileScalar(session, table, column, rowCount <= exactProfileRows),
    );
  }
  return profiles;
}

async function profileScalar(
  session: DuckDbSession,
  table: string,
  column: ColumnSchema,
  exact: boolean,
): Promise<ColumnProfile> {
  const name = quoteName(column.name);
  const statistics = [`count(${name}) AS count`, "count(*) AS rows"];
  statistics.push(`${exact ? `count(DISTINCT ${name})` : `approx_count_distinct(${name})`} AS "distinct"`);
  if (column.type === "int" || column.type === "float") {
    const quantile = exact ? "quantile_cont" : "approx_quantile";
    statistics.push(`min(${name}) AS min`, `max(${name}) AS max`);
    statistics.push(`avg(CAST(${name} AS DOUBLE)) AS mean`, `stddev_pop(CAST(${name} AS DOUBLE)) AS std`);
    statistics.push(`${quantile}(CAST(${name} AS DOUBLE), [${profiledQuantiles.join(", ")}]) AS quantiles`);
  } else if (column.type === "string") {
    statistics.push(`min(length(${name})) AS min`, `max(length(${name})) AS max`);
  } else if (column.type === "timestamp") {
    statistics.push(`strftime(min(${name}), '%Y-%m-%dT%H:%M:%S.%gZ') AS min`);
    statistics.push(`strftime(max(${name}), '%Y-%m-%dT%H:%M:%S.%gZ') AS max`);
  } else statistics.push(`avg(CAST(${name} AS INTEGER)) AS mean`);
  const isCounted = categorical.includes(column.type) && (await countValues(session, table, column));
  const query = isCounted ? countedStatistics(column) : `SELECT ${statistics.join(", ")} FROM ${table}`;
  const [row] = await session.rows(query);
  const count = Number(row!["count"]);
  return {
    name: column.name,
    type: column.type,
    count,
    nulls: Number(row!["rows"]) - count,
    distinct: Number(row!["distinct"]),
    ...present(row!, "min"),
    ...present(row!, "max"),
    ...present(row!, "mean"),
    ...present(row!, "std"),
    ...quantilesOf(row!["quantiles"]),
    ...(await topValues(session, column)),
  };
}

export function categoryOf(value: DuckDBValue | undefined, type: ColumnType): Category {
  return type === "string" ? String(value) : type === "bool" ? value === true : Number(value);
}

/** Reads the most frequent values of the column that was counted last; of texts also those that are alike. */
async function topValues(
  session: DuckDbSession,
  { type }: ColumnSchema,
): Promise<Pick<ColumnProfile, "top" | "alike">> {
  if (!categorical.includes(type)) return {};
  const valueRows = await session.rows(
    `SELECT * FROM ${valueCounts} WHERE "value#" IS NOT NULL ORDER BY "rows#" DESC, "value#" LIMIT ${type === "string" ? valueLimit + 1 : 10}`,
  );
  const counted = valueRows.map((row) => ({ value: categoryOf(row["value#"], type), count: Number(row["rows#"]) }));
  const alike = type === "string" ? alikeTexts(counted as readonly CountedText[]) : [];
  return { top: counted.slice(0, 10), ...(alike.length > 0 ? { alike } : {}) };
}

export async function measureTensor(session: DuckDbSession, table: string, column: ColumnSchema) {
  const stats = new RunningStats();
  let [count, nulls, min, max] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for await (const batch of readColumns(session, table, [column])) {
    const tensors = batch.columns[column.name]!;
    if (tensors.kind !== "tensor") continue;
    for (let row = 0; row < batch.rows; row += 1) {
      if (tensors.valid[row] === 0) {
        nulls += 1;
        continue;
      }
      count += 1;
      const start = row * tensors.width;
      stats.addAll(tensors.values, start, tensors.width);
      for (let i = start; i < start + tensors.width; i += 1) {
        const value = tensors.values[i]!;
        if (value < min) min = value;
        if (value > max) max = value;
      }
    }
  }
  return { count, nulls, min, max, stats };
}

async function profileTensor(session: DuckDbSession, table: string, column: ColumnSchema): Promise<ColumnProfile> {
  const { count, nulls, min, max, stats } = await measureTensor(session, table, column);
  const { name, type } = column;
  if (count === 0) return { name, type, count, nulls };
  return { name, type, count, nulls, min, max, mean: stats.mean, std: min === max ? 0 : stats.deviation };
}

function present<Key extends string>(
  row: Found,
  key: Key,
): Partial<Record<Key, number | string>> & { mean?: number; std?: number } {
  const value = row[key];
  if (value === null || value === undefined) return {};
  return { [key]: typeof value === "string" ? value : Number(value) } as Partial<Record<Key, number | string>>;
}

function quantilesOf(value: DuckDBValue | undefined): Pick<ColumnProfile, "quantiles"> {
  if (value === null || value === undefined) return {};
  return { quantiles: (value as DuckDBListValue | DuckDBArrayValue).items.map(Number) };
}
