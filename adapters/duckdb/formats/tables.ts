import { numberReading } from "../../../core/datasets/number-format";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { InvalidInputError } from "../../../core/errors";
import { columnTypes, type DuckDbSession, quoteName, quoteText } from "../session";
import { parseCsvHeader, problemOfNames } from "./csv-header";
import { readFirstLine, scanText } from "./text-scan";

export interface TableFile {
  readonly file: string;
  /** Columns and their DuckDB types, in the file's order. Values of CSV and JSON are always text. */
  readonly types: ReadonlyMap<string, string>;
  /** Files with the same form are read by one call. */
  readonly form: string;
  /** Returns a table expression over files of this form, with these columns. */
  read(files: readonly string[], columns: readonly ReadColumn[]): string;
}

/** A column to read, with the format of its values if they are numbers or times. */
type ReadColumn = Pick<ColumnSchema, "name"> & Partial<Pick<ColumnSchema, "type" | "format">>;

const scanned = new WeakMap<DuckDbSession, Set<string>>();

/** Reads a text file once in a session. @throws InvalidInputError */
async function assertText(session: DuckDbSession, file: string, kind: "csv" | "json"): Promise<void> {
  const scannedFiles = scanned.get(session) ?? new Set();
  scanned.set(session, scannedFiles);
  if (scannedFiles.has(file)) return;
  const problem = await scanText(file, kind);
  if (problem) throw new InvalidInputError(`${file} cannot be read`, [problem]);
  scannedFiles.add(file);
}

function assertNames(file: string, names: readonly string[]): void {
  const rule = problemOfNames(names);
  if (rule !== undefined) throw new InvalidInputError(`${file} cannot be read`, [{ path: "columns", rule }]);
}

export async function openCsv(session: DuckDbSession, file: string): Promise<TableFile> {
  await assertText(session, file, "csv");
  const { delimiter, names } = parseCsvHeader(await readFirstLine(file));
  const named = names.filter((name) => name !== "");
  assertNames(file, named.length > 0 ? named : names);
  // No column is named " 2", because names neither begin nor end with a space.
  const declared = names.map((name, index) => `${quoteText(name === "" ? ` ${index + 1}` : name)}: 'VARCHAR'`);
  const read = (files: readonly string[]): string =>
    `read_csv(${listOf(files)}, columns = {${declared.join(", ")}}, delim = ${quoteText(delimiter)}, quote = '"', escape = '"', ` +
    "header = true, auto_detect = false)";
  for (const [index, name] of names.entries())
    if (name === "") await assertEmpty(session, file, read([file]), index + 1);
  return {
    file,
    types: new Map(named.map((column) => [column, "VARCHAR"])),
    form: JSON.stringify([delimiter, names]),
    read,
  };
}

/** Refuses a column without a name that has a value. @throws InvalidInputError */
async function assertEmpty(session: DuckDbSession, file: string, table: string, number: number): Promise<void> {
  const column = quoteName(` ${number}`);
  const [example] = await session.rows(
    `SELECT " row", left(${column}, 80) AS value FROM (SELECT row_number() OVER () AS " row", ${column} FROM ${table})
     WHERE trim(${column}) <> '' LIMIT 1`,
  );
  if (example === undefined) return;
  const rule = `must name each column, and the name of column ${number} is empty, although row ${Number(example[" row"])} has ${JSON.stringify(example["value"])} in it; name it or remove the column`;
  throw new InvalidInputError(`${file} cannot be read`, [{ path: "columns", rule }]);
}

/** The maximum number of digits of a decimal of Parquet: of wider ones, DuckDB 1.5 reads some as other numbers. */
const maxDigits = 38;
const wideDecimal = "WIDE DECIMAL";
/** The maximum number of levels of lists or structs in a column. DuckDB needs minutes to compile a cast of 50 levels. */
export const maxLevels = 8;

/** Returns why no column of a schema can have a type, and what to do. Undefined if one can. */
export function problemOfType(type: string): string | undefined {
  if (type.startsWith(wideDecimal))
    return `must have at most ${maxDigits} digits, because DuckDB reads wider decimals as other numbers; write it as DOUBLE`;
  const lists = /(?:\[\d*\])*$/.exec(type)![0].split("[").length - 1;
  if (Math.max(lists, levelsOfStructs(type)) <= maxLevels) return undefined;
  return `must have at most ${maxLevels} levels of lists or structs; write its values in columns of their own`;
}

function levelsOfStructs(type: string): number {
  let [depth, deepest] = [0, 0];
  for (const character of type) {
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

export async function openParquet(session: DuckDbSession, file: string): Promise<TableFile> {
  const described = await session.rows(`SELECT name, num_children, precision FROM parquet_schema(${listOf([file])})`);
  const columns = topLevel(
    described.map(({ name, num_children, precision }) => ({
      name: String(name),
      children: Number(num_children ?? 0),
      precision: Number(precision ?? 0),
    })),
  );
  assertNames(
    file,
    columns.map(({ name }) => name),
  );
  const types = new Map(await columnTypes(session, `read_parquet(${listOf([file])})`));
  for (const { name, precision } of columns) if (precision > maxDigits) types.set(name, `${wideDecimal}(${precision})`);
  return {
    file,
    types,
    form: JSON.stringify([...types]),
    read: (files) => `read_parquet(${listOf(files)})`,
  };
}

interface ParquetPart {
  readonly name: string;
  readonly children: number;
  /** The number of digits of a decimal; of a column the largest in it. */
  readonly precision: number;
}

/** Returns the columns of a schema in depth-first order, whose first part is the root. */
function topLevel(parts: readonly ParquetPart[]): readonly ParquetPart[] {
  const columns: ParquetPart[] = [];
  let inside = 0;
  for (const part of parts.slice(1)) {
    const last = columns.at(-1);
    if (inside === 0 || last === undefined) columns.push(part);
    else {
      inside -= 1;
      columns[columns.length - 1] = { ...last, precision: Math.max(last.precision, part.precision) };
    }
    inside += part.children;
  }
  return columns;
}

export async function openJson(session: DuckDbSession, file: string): Promise<TableFile> {
  await assertText(session, file, "json");
  const types = await columnTypes(session, `read_json(${listOf([file])})`);
  if ([...types.keys()].join() === "json") {
    // Fails with the line of the first value that is no object.
    const [row] = await session.rows(
      `SELECT count(*) AS "rows#", count(json) FROM read_json(${listOf([file])}, columns = {json: 'JSON'}, records = true)`,
    );
    if (Number(row!["rows#"]) === 0) {
      throw new InvalidInputError(`${file} cannot be read`, [{ path: file, rule: "must have rows" }]);
    }
  }
  await assertKeys(session, file, [...types.keys()]);
  return {
    file,
    types: new Map([...types.keys()].map((name) => [name, "VARCHAR"])),
    form: "",
    read(files, columns) {
      // Values are read as text, so that a 5 in JSON and a 5 in CSV are treated alike.
      const declared = columns.map(({ name }) => `${quoteText(name)}: 'JSON'`).join(", ");
      const texts = columns.map((column) => `${jsonText(column)} AS ${quoteName(column.name)}`).join(", ");
      return `(SELECT ${texts} FROM read_json(${listOf(files)}, columns = {${declared}}, records = true))`;
    },
  };
}

/** Returns SQL for a value of JSON as text. A number of a column with a number format is written in this format. */
function jsonText({ name, type, format }: ReadColumn): string {
  const value = quoteName(name);
  const text = `${value} ->> '$'`;
  if (format === undefined || (type !== "int" && type !== "float")) return text;
  const { before, after, decimal } = numberReading(format);
  const rewritten = quoteText(`\\1${before.replaceAll("\\", "\\\\")}`);
  const number = `replace(${text}, '.', ${quoteText(decimal)})`;
  const written = `regexp_replace(${number}, '^(-?)', ${rewritten}) || ${quoteText(after)}`;
  return `CASE WHEN json_type(${value}) IN ('BIGINT', 'UBIGINT', 'HUGEINT', 'DOUBLE') THEN ${written} ELSE ${text} END`;
}

/** Refuses keys that differ only in case: DuckDB calls the second of `a` and `A` `A_1`. */
async function assertKeys(session: DuckDbSession, file: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const base = name.replace(/_\d+$/, "");
    const other = names.find((one) => one !== name && one.toLowerCase() === base.toLowerCase());
    if (base === name || other === undefined) continue;
    const [row] = await session.rows(
      `SELECT count(${quoteName(name)}) AS present FROM read_json(${listOf([file])}, columns = {${quoteText(name)}: 'JSON'})`,
    );
    if (Number(row!["present"]) === 0) assertNames(file, [other, base]);
  }
}

/** Returns SQL for a list of files. A name with a character of a glob matches itself. */
function listOf(files: readonly string[]): string {
  return `[${files.map((file) => quoteText(file.replaceAll(/[*?[]/g, "[$&]"))).join(", ")}]`;
}

/**
 * Returns a table expression over all files, in their order.
 *
 * @throws InvalidInputError if they have not the same columns
 */
export function unionOf(opened: readonly TableFile[], columns: readonly ReadColumn[]): string {
  const [first] = opened as readonly [TableFile, ...TableFile[]];
  const wanted = columns.length > 0 ? columns : [...first.types.keys()].map((name) => ({ name }));
  const groups: TableFile[][] = [];
  for (const one of opened) {
    const last = groups.at(-1);
    if (last?.[0]?.form === one.form) last.push(one);
    else groups.push([one]);
  }
  const tables = groups.map((group) =>
    group[0]!.read(
      group.map(({ file }) => file),
      wanted,
    ),
  );
  if (tables.length === 1) return tables[0]!;
  const selected = wanted.map(({ name }) => quoteName(name)).join(", ");
  return `(${tables.map((table) => `SELECT ${selected} FROM ${table}`).join(" UNION ALL ")})`;
}

/** @throws InvalidInputError that names the file and the column that differs */
export function assertSameColumns(opened: readonly TableFile[]): void {
  const [first] = opened as readonly [TableFile, ...TableFile[]];
  for (const { file, types } of opened) {
    const problems = [
      ...[...first.types.keys()]
        .filter((name) => !types.has(name))
        .map((name) => ({ path: `column ${name}`, rule: `must be in every file, as it is in ${first.file}` })),
      ...[...types.keys()]
        .filter((name) => !first.types.has(name))
        .map((name) => ({ path: `column ${name}`, rule: `must be in every file, and is not in ${first.file}` })),
      ...[...types]
        .filter(([name, type]) => (first.types.get(name) ?? type) !== type)
        .map(([name, type]) => ({
          path: `column ${name}`,
          value: type,
          rule: `must have the type that it has in ${first.file}, ${first.types.get(name)}`,
        })),
    ];
    if (problems.length > 0) throw new InvalidInputError(`${file} has other columns`, problems.slice(0, 20));
  }
}
