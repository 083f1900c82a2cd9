import type { ColumnProfile } from "../../core/datasets/profile";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { profileColumns } from "./profile";
import { type DuckDbSession, quoteName } from "./session";

export interface DescribedColumn extends ColumnProfile {
  /** Rows in bins of equal width between minimum and maximum; of categories, the rows of the ten most frequent. */
  readonly histogram?: readonly number[];
}

export interface DescribedRows {
  readonly rows: number;
  readonly columns: readonly DescribedColumn[];
  /** The first rows as text, by column. */
  readonly preview: readonly Readonly<Record<string, string | null>>[];
}

const bins = 12;
const previewRows = 5;
const previewCharacters = 80;

export async function describeRows(
  session: DuckDbSession,
  table: string,
  schema: readonly ColumnSchema[],
): Promise<DescribedRows> {
  const [counted] = await session.rows(`SELECT count(*) AS "rows#" FROM ${table}`);
  const rows = Number(counted!["rows#"]);
  const profiles = await profileColumns(session, table, schema, rows);
  const columns: DescribedColumn[] = [];
  for (const [index, column] of schema.entries()) {
    const profile = profiles[index]!;
    const histogram = isNumber(column)
      ? await histogramOf(session, table, column)
      : profile.top?.map(({ count }) => count);
    columns.push({ ...profile, ...(histogram ? { histogram } : {}) });
  }
  return { rows, columns, preview: await firstRows(session, table, schema) };
}

/** Tests whether the column's values are quantities. An int with a closed set of values is a category. */
function isNumber({ type, values, role }: ColumnSchema): boolean {
  if (type === "int") return values === undefined && role !== "label";
  return type === "float" || type === "timestamp";
}

function numberOf({ name, type }: ColumnSchema): string {
  const column = quoteName(name);
  return `CAST(${type === "timestamp" ? `epoch_ms(${column})` : column} AS DOUBLE)`;
}

async function histogramOf(session: DuckDbSession, table: string, column: ColumnSchema): Promise<readonly number[]> {
  const value = numberOf(column);
  const binRows = await session.rows(
    `SELECT CASE WHEN high > low THEN least(${bins - 1}, CAST(floor(${bins} * (x - low) / (high - low)) AS INTEGER)) ELSE 0 END AS bin,
            count(*) AS "rows"
     FROM (SELECT ${value} AS x FROM ${table} WHERE ${value} IS NOT NULL),
          (SELECT min(${value}) AS low, max(${value}) AS high FROM ${table}) GROUP BY 1`,
  );
  const histogram = new Array<number>(bins).fill(0);
  for (const row of binRows) histogram[Number(row["bin"])]! += Number(row["rows"]);
  return histogram;
}

async function firstRows(
  session: DuckDbSession,
  table: string,
  schema: readonly ColumnSchema[],
): Promise<DescribedRows["preview"]> {
  const texts = schema.map(({ name, type }) => {
    const column = quoteName(name);
    const text = type === "timestamp" ? `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')` : `CAST(${column} AS VARCHAR)`;
    return `left(${text}, ${previewCharacters}) AS ${column}`;
  });
  const rows = await session.rows(`SELECT ${texts.join(", ")} FROM ${table} LIMIT ${previewRows}`);
  return rows.map((row) =>
    Object.fromEntries(schema.map(({ name }) => [name, row[name] === null ? null : String(row[name])])),
  );
}
