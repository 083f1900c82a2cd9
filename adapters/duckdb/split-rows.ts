import type { DatasetSchema } from "../../core/datasets/schema";
import { type ColumnSchema, type DatasetDraft, type SplitName, splitNames } from "../../core/datasets/shapes";
import { assertSplitsFilled, createSplitter, type Stratum } from "../../core/datasets/split";
import { encodeSplitIndex, SplitIndexBuilder } from "../../core/datasets/split-index";
import { assertUnitsSuffice, assignGroups, assignTimes } from "../../core/datasets/whole-split";
import { sha256 } from "../../core/digest";
import { type ColumnValues, textAt } from "../../core/features/values";
import { readColumns } from "./row-reader";
import { type DuckDbSession, quoteName } from "./session";

/**
 * Splits the rows of the canonical table by the schema's rule. Rows that are in a split already stay there, except in a
 * split by time, which always follows the order of time.
 *
 * @param kept index into `splitNames` of each of the first rows, which have their splits
 * @throws InvalidInputError if a split would have no rows
 */
export async function splitRows(
  session: DuckDbSession,
  { columns, split }: DatasetSchema,
  rowCount: number,
  kept: Uint8Array = new Uint8Array(0),
): Promise<{ readonly split: DatasetDraft["split"]; readonly indexes: ReadonlyMap<string, Uint8Array> }> {
  const column = columns.find(({ name }) => name === (split.by === undefined ? split.stratifyBy : split.column));
  const units = column === undefined ? undefined : await unitsOf(session, column);
  const strata = units?.strata ?? [{ value: null, rows: rowCount }];
  const first = split.by === "time" ? new Uint8Array(0) : kept;
  const held = strata.map(() => ({ train: 0, validation: 0, test: 0 }));
  if (first.length > 0) {
    for await (const { firstRow, unitOf } of unitRows(session, column, units, rowCount)) {
      for (let i = 0; i < unitOf.length && firstRow + i < first.length; i += 1) {
        held[unitOf[i]!]![splitNames[first[firstRow + i]!]!] += 1;
      }
    }
  }
  const assign = assignerOf(split, strata, first.length > 0 ? held : undefined);
  const builder = new SplitIndexBuilder();
  for await (const { firstRow, unitOf } of unitRows(session, column, units, rowCount)) {
    for (let i = 0; i < unitOf.length; i += 1) {
      const row = firstRow + i;
      builder.add(row < first.length ? splitNames[first[row]!]! : assign(unitOf[i]!), row);
    }
  }
  const files = splitNames.map((name) => {
    const bytes = encodeSplitIndex(builder.rows(name));
    return { name, bytes, index: { sha256: sha256(bytes), bytes: bytes.length, rows: bytes.length / 4 } };
  });
  const [train, validation, test] = files.map(({ index }) => index);
  const indexes = { train: train!, validation: validation!, test: test! };
  assertSplitsFilled(
    { train: indexes.train.rows, validation: indexes.validation.rows, test: indexes.test.rows },
    split.fractions,
    column && units && { column: column.name, values: units.strata },
  );
  return { split: { ...split, indexes }, indexes: new Map(files.map(({ bytes, index }) => [index.sha256, bytes])) };
}

type Units = Awaited<ReturnType<typeof unitsOf>>;
const plainRows = 65_536;

/** Yields the unit of each row, in batches; without a column, all rows are one unit. */
async function* unitRows(
  session: DuckDbSession,
  column: ColumnSchema | undefined,
  units: Units | undefined,
  rowCount: number,
): AsyncGenerator<{ readonly firstRow: number; readonly unitOf: Uint32Array }> {
  if (column === undefined || units === undefined) {
    for (let firstRow = 0; firstRow < rowCount; firstRow += plainRows) {
      yield { firstRow, unitOf: new Uint32Array(Math.min(plainRows, rowCount - firstRow)) };
    }
    return;
  }
  for await (const { rows, firstRow, columns } of readColumns(session, "canonical", [column])) {
    const values = columns[column.name]!;
    yield { firstRow, unitOf: Uint32Array.from({ length: rows }, (_, i) => units.indexOf.get(keyAt(values, i))!) };
  }
}

function assignerOf(
  split: DatasetSchema["split"],
  units: readonly Stratum[],
  held: readonly Readonly<Record<SplitName, number>>[] | undefined,
): (unit: number) => SplitName {
  const { by, column, seed, fractions } = split;
  const rows = units.map((unit) => unit.rows);
  if (by === undefined || column === undefined) {
    const fresh = held ? rows.map((count, i) => count - sumOf(held[i]!)) : rows;
    return createSplitter(seed, fractions, fresh, held).assign;
  }
  assertUnitsSuffice({ by, column }, units, fractions);
  const heldBy = (group: number): SplitName | undefined => splitNames.find((name) => (held?.[group]?.[name] ?? 0) > 0);
  const assigned = by === "group" ? assignGroups(seed, fractions, rows, heldBy) : assignTimes(fractions, rows);
  return (unit) => assigned[unit]!;
}

function sumOf({ train, validation, test }: Readonly<Record<SplitName, number>>): number {
  return train + validation + test;
}

function keyAt(values: ColumnValues, row: number): string | number | null {
  if (values.kind === "string") return textAt(values, row);
  return values.kind === "number" && values.valid[row] ? values.values[row]! : null;
}

/** Returns the column's values in ascending order, missing values last, with their numbers of rows. */
async function unitsOf(
  session: DuckDbSession,
  { name, type }: ColumnSchema,
): Promise<{
  readonly strata: readonly Stratum[];
  readonly indexOf: ReadonlyMap<string | number | null, number>;
}> {
  // Rows are read with times in milliseconds.
  const value = type === "timestamp" ? `epoch_ms(${quoteName(name)})` : quoteName(name);
  const valueRows = await session.rows(
    `SELECT ${value} AS "value#", count(*) AS "rows#" FROM canonical GROUP BY 1 ORDER BY 1 NULLS LAST`,
  );
  const keyOf = (key: unknown): string | number | null =>
    key === null ? null : type === "string" ? String(key) : Number(key);
  return {
    strata: valueRows.map((row) => ({ value: keyOf(row["value#"]), rows: Number(row["rows#"]) })),
    indexOf: new Map(valueRows.map((row, index) => [keyOf(row["value#"]), index])),
  };
}
