import { type ColumnProfile, valueLimit } from "../../core/datasets/profile";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { profileColumns } from "./profile";
import { type DuckDbSession, quoteName } from "./session";

/** Strength of the relation of two columns, 0 (none) to 1 (one determines the other). */

export interface Group {
  readonly rows: number;
  readonly mean: number;
}

/**
 * Returns the correlation ratio of numbers in groups: the root of the share of their variance that the groups explain.
 * The share is corrected for the number of groups (ε², Kelley 1935), because many small groups explain much by chance.
 * Groups of one row each explain nothing.
 *
 * @param variance population variance of all numbers
 */
export function correlationRatio(groups: readonly Group[], variance: number): number | undefined {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  if (rows === 0 || !(variance > 0)) return undefined;
  if (groups.length >= rows) return 0;
  const mean = groups.reduce((sum, group) => sum + group.rows * group.mean, 0) / rows;
  const between = groups.reduce((sum, group) => sum + group.rows * (group.mean - mean) ** 2, 0) / rows;
  const unexplained = Math.max(0, 1 - between / variance);
  return Math.sqrt(Math.max(0, 1 - (unexplained * (rows - 1)) / (rows - groups.length)));
}

/**
 * Returns Cramér's V of two categorical columns, from the rows of each pair of values. It is corrected for the number of
 * values (Bergsma 2013, "A bias-correction for Cramér's V and Tschuprow's T"), because each value of an id has one
 * label. An id has 0; `undefined`: one of the columns is constant.
 */
export function cramersV(
  cells: readonly { readonly one: string; readonly other: string; readonly rows: number }[],
): number | undefined {
  const [ones, others] = [new Map<string, number>(), new Map<string, number>()];
  let total = 0;
  for (const { one, other, rows } of cells) {
    ones.set(one, (ones.get(one) ?? 0) + rows);
    others.set(other, (others.get(other) ?? 0) + rows);
    total += rows;
  }
  const [r, c] = [ones.size - 1, others.size - 1];
  if (Math.min(r, c) < 1) return undefined;
  const sum = cells.reduce((all, { one, other, rows }) => all + rows ** 2 / (ones.get(one)! * others.get(other)!), 0);
  // φ² = χ² / n, less its expected value where the columns are independent; r̃ and c̃ of the paper, each less 1.
  const phi2 = Math.max(0, sum - 1 - (r * c) / (total - 1));
  const degrees = Math.min(r - r ** 2 / (total - 1), c - c ** 2 / (total - 1));
  // Rounding leaves a rest of an id's degrees, which are 0.
  return degrees < 1e-9 ? 0 : Math.sqrt(Math.min(1, phi2 / degrees));
}

export interface DescribedColumn extends ColumnProfile {
  /** Rows in bins of equal width between minimum and maximum; of categories, the rows of the ten most frequent. */
  readonly histogram?: readonly number[];
  /**
   * Relation to the label: Pearson's correlation of two numbers (-1 to 1), the correlation ratio of a number and a
   * category, or Cramér's V of two categories (0 to 1), both corrected for the number of values.
   */
  readonly labelCorrelation?: number;
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
  const label = schema.find(({ role }) => role === "label");
  const profiles = await profileColumns(session, table, schema, rows);
  const columns: DescribedColumn[] = [];
  for (const [index, column] of schema.entries()) {
    const profile = profiles[index]!;
    const histogram = isNumber(column)
      ? await histogramOf(session, table, column)
      : profile.top?.map(({ count }) => count);
    const labelCorrelation = label && label !== column ? await relation(session, table, column, label) : undefined;
    columns.push({
      ...profile,
      ...(histogram ? { histogram } : {}),
      labelCorrelation,
    });
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

async function relation(
  session: DuckDbSession,
  table: string,
  column: ColumnSchema,
  label: ColumnSchema,
): Promise<number | undefined> {
  if (column.type === "tensor") return undefined;
  const [numeric, value] = [isNumber(column), isNumber(label)];
  if (numeric && value) {
    // Pearson's correlation is NaN if one of the columns is constant.
    const [statistic] = await session.rows(`SELECT corr(${numberOf(column)}, ${numberOf(label)}) AS r FROM ${table}`);
    const r = statistic!["r"] === null ? Number.NaN : Number(statistic!["r"]);
    return Number.isFinite(r) ? r : undefined;
  }
  if (numeric || value) return ratio(session, table, numeric ? column : label, numeric ? label : column);
  const [one, other] = [quoteName(column.name), quoteName(label.name)];
  const cells = await session.rows(
    `SELECT CAST(${one} AS VARCHAR) AS one, CAST(${other} AS VARCHAR) AS other, count(*) AS "rows" FROM ${table}
     WHERE ${one} IS NOT NULL GROUP BY 1, 2 LIMIT ${valueLimit * 10 + 1}`,
  );
  // Among very many pairs every relation looks strong.
  if (cells.length > valueLimit * 10) return undefined;
  return cramersV(
    cells.map((row) => ({ one: String(row["one"]), other: String(row["other"]), rows: Number(row["rows"]) })),
  );
}

async function ratio(
  session: DuckDbSession,
  table: string,
  number: ColumnSchema,
  category: ColumnSchema,
): Promise<number | undefined> {
  const [x, group] = [numberOf(number), quoteName(category.name)];
  const present = `${x} IS NOT NULL AND ${group} IS NOT NULL`;
  const groups = await session.rows(
    `SELECT count(*) AS "rows", avg(${x}) AS mean FROM ${table} WHERE ${present} GROUP BY ${group} LIMIT ${valueLimit + 1}`,
  );
  if (groups.length > valueLimit) return undefined;
  const [statistic] = await session.rows(`SELECT var_pop(${x}) AS variance FROM ${table} WHERE ${present}`);
  return correlationRatio(
    groups.map((row) => ({ rows: Number(row["rows"]), mean: Number(row["mean"]) })),
    Number(statistic!["variance"] ?? 0),
  );
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
