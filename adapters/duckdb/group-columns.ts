import type { ColumnSchema } from "../../core/datasets/shapes";
import {
  type ColumnState,
  distinctPlaces,
  frequentValues,
  maxCountedValues,
  quantileBits,
} from "../../core/features/column-state";
import { categorical, categoryOf, countValues, measureTensor, valueCounts } from "./profile";
import { type DuckDbSession, quoteName } from "./session";

/**
 * Measures a column in one group of a version's rows. The states of all groups are merged by `ColumnMerger`.
 *
 * @param table the rows of the group
 */
export async function measureColumn(session: DuckDbSession, table: string, column: ColumnSchema): Promise<ColumnState> {
  const { type } = column;
  if (type === "tensor") {
    const { count, nulls, min, max, stats } = await measureTensor(session, table, column);
    return { count, nulls, ...(count > 0 ? { min, max, stats: stats.state() } : {}) };
  }
  const name = quoteName(column.name);
  const number = type === "bool" ? `CAST(CAST(${name} AS INTEGER) AS DOUBLE)` : `CAST(${name} AS DOUBLE)`;
  const isNumber = type === "int" || type === "float";
  const statistics = [`count(${name}) AS count`, "count(*) AS rows"];
  if (isNumber || type === "bool") statistics.push(`avg(${number}) AS mean`, `var_pop(${number}) AS variance`);
  if (isNumber) statistics.push(`min(${number}) AS min`, `max(${number}) AS max`);
  if (type === "string") statistics.push(`min(length(${name})) AS min`, `max(length(${name})) AS max`);
  if (type === "timestamp") {
    statistics.push(`strftime(min(${name}), '%Y-%m-%dT%H:%M:%S.%gZ') AS min`);
    statistics.push(`strftime(max(${name}), '%Y-%m-%dT%H:%M:%S.%gZ') AS max`);
  }
  const [row] = await session.rows(`SELECT ${statistics.join(", ")} FROM ${table}`);
  const count = Number(row!["count"]);
  const nulls = Number(row!["rows"]) - count;
  const counts = categorical.includes(type) ? await countedValues(session, table, column) : {};
  if (count === 0) return { count, nulls, ...counts };
  const bound = (key: "min" | "max") => (type === "timestamp" ? String(row![key]) : Number(row![key]));
  const mean = Number(row!["mean"]);
  return {
    ...{ count, nulls },
    ...(type === "bool" ? {} : { min: bound("min"), max: bound("max") }),
    ...(isNumber || type === "bool" ? { stats: { count, mean, squares: Number(row!["variance"]) * count } } : {}),
    ...counts,
    // Another group may have more values than can be counted.
    ...(type === "bool" ? {} : { minHashes: await minHashes(session, table, name) }),
    ...(isNumber ? { rounded: await roundedCounts(session, table, number) } : {}),
  };
}

async function countedValues(
  session: DuckDbSession,
  table: string,
  column: ColumnSchema,
): Promise<Pick<ColumnState, "values" | "allCounted">> {
  const complete = await countValues(session, table, column);
  const limit = complete ? maxCountedValues + 1 : frequentValues;
  const valueRows = await session.rows(
    `SELECT * FROM ${valueCounts} WHERE "value#" IS NOT NULL ORDER BY "rows#" DESC, "value#" LIMIT ${limit}`,
  );
  const allCounted = complete && valueRows.length <= maxCountedValues;
  const shown = allCounted ? valueRows : valueRows.slice(0, frequentValues);
  return {
    values: shown.map((row) => [categoryOf(row["value#"], column.type), Number(row["rows#"])] as const),
    allCounted,
  };
}

async function roundedCounts(
  session: DuckDbSession,
  table: string,
  number: string,
): Promise<readonly (readonly [number, number])[]> {
  const unit = `power(2e0, floor(log2(abs(x))) - ${quantileBits - 1})`;
  const rows = await session.rows(
    `SELECT CASE WHEN x = 0 THEN 0e0 ELSE floor(x / ${unit} + 0.5e0) * ${unit} END AS value, count(*) AS n
     FROM (SELECT ${number} AS x FROM ${table}) WHERE x IS NOT NULL GROUP BY 1 ORDER BY 1`,
  );
  return rows.map((row) => [Number(row["value"]), Number(row["n"])] as const);
}

async function minHashes(session: DuckDbSession, table: string, name: string): Promise<readonly number[]> {
  const rows = await session.rows(
    `SELECT CAST(h & ${distinctPlaces - 1} AS INTEGER) AS place, CAST(min(h >> 11) AS DOUBLE) AS least
     FROM (SELECT hash(${name}) AS h FROM ${table} WHERE ${name} IS NOT NULL) GROUP BY 1`,
  );
  const least = new Array<number>(distinctPlaces).fill(2 ** 53);
  for (const row of rows) least[Number(row["place"])] = Number(row["least"]);
  return least;
}
