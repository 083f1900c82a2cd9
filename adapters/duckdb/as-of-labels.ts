import { InvalidInputError, type Problem } from "../../core/errors";
import type { Labels } from "../../core/feature-store/replay";
import type { ViewDefinition } from "../../core/feature-store/shapes";
import { sortAscending } from "../../core/feature-store/time-order";
import { castTo } from "./cast";
import { EntityNumbers } from "./entity-numbers";
import { formatOf } from "./formats/source-files";
import { copyNumbers, rowsPerChunk } from "./number-columns";
import { visitChunks } from "./scalar-functions";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource, type Source } from "./source";

export interface LabelFile {
  /** CSV, Parquet or JSON. */
  readonly file: string;
  /** All columns of the file, which the joined rows keep. */
  readonly own: readonly string[];
  /** Column of the time at which a row's features are wanted. */
  readonly time: string;
  readonly definitions: readonly Pick<ViewDefinition, "entities" | "columns">[];
}

/**
 * Opens the file as the view `labels`: its own columns, `at#` in milliseconds, a column for each entity column and type, and
 * `label#`, the number of the row from 0.
 */
export async function openLabels(session: DuckDbSession, { file, own, time, definitions }: LabelFile) {
  refuseReservedNames(file, own);
  const keys = definitions.map(({ entities, columns }) => entities.map((name) => ({ name, type: columns[name]! })));
  const all = [...new Set([...own, time, ...keys.flat().map(({ name }) => name)])];
  const source = await openSource(
    session,
    file,
    all.map((name) => ({ name, type: "string", role: "feature" })),
  );
  const { table, types } = source;
  const casts = new Map<string, string>();
  const nameOf = ({ name, type }: { name: string; type: string }) => `${name} ${type}#`;
  for (const key of keys.flat()) {
    const column = { ...key, role: "feature" as const };
    casts.set(nameOf(key), castTo(column, types.get(key.name)!));
  }
  const at = `epoch_ms(${castTo({ name: time, type: "timestamp", role: "feature" }, types.get(time)!)})`;
  const selected = [...casts].map(([name, sql]) => `${sql} AS ${quoteName(name)}`);
  const rowsFrom = (number: string) =>
    `SELECT ${[...own.map(quoteName), `${at} AS "at#"`, ...selected, `${number} AS "label#"`].join(", ")} FROM ${table}`;
  if (await isReadByGroups(session, source)) {
    await session.run(`CREATE OR REPLACE TEMP VIEW labels AS ${rowsFrom("file_row_number")}`);
  } else {
    await source.reading(() =>
      session.run(`CREATE OR REPLACE TEMP TABLE label_rows AS ${rowsFrom("row_number() OVER () - 1")}`),
    );
    await session.run("CREATE OR REPLACE TEMP VIEW labels AS SELECT * FROM label_rows");
  }
  const checks: readonly Check[] = [
    { name: time, cast: "at#", rule: "must be a date or time in ISO 8601, and not missing" },
    ...keys
      .flat()
      .map((key) => ({ name: key.name, cast: nameOf(key), rule: `must be of type ${key.type}`, optional: true })),
  ];
  const entities = keys.map((some) => some.map((key) => ({ column: nameOf(key), type: key.type })));
  return { source, entities, ...(await checkLabels(session, source, file, checks)) };
}

/** Refuses columns whose names could be those of the columns that are added. */
function refuseReservedNames(file: string, own: readonly string[]): void {
  const reserved = own.filter((name) => name.endsWith("#"));
  if (reserved.length === 0) return;
  const problems = reserved.map((name): Problem => ({ path: name, rule: "must not end in #; rename the column" }));
  throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/**
 * Counts the labels, and finds the first and the last time, in milliseconds since the epoch.
 *
 * @throws InvalidInputError if a value does not fit its type
 */
async function checkLabels(session: DuckDbSession, source: Source, file: string, checks: readonly Check[]) {
  const [found] = await source.reading(() =>
    session.rows(
      `SELECT count(*)::DOUBLE AS "rows#", min("at#")::DOUBLE AS "first#", max("at#")::DOUBLE AS "last#",
         count_if(${checks.map(isUnfit).join(" OR ")})::DOUBLE AS "unfit#" FROM labels`,
    ),
  );
  if (found!["unfit#"] !== 0) await refuseUnfit(session, file, checks);
  return { rows: Number(found!["rows#"]), first: Number(found!["first#"]), last: Number(found!["last#"]) };
}

/** The maximum number of rows of a row group with which threads share the rows of a Parquet file evenly. */
const maxGroupRows = 1 << 18;

/** Returns whether the rows are read from the file each time, which takes less time than a table of them. */
async function isReadByGroups(session: DuckDbSession, { files, types }: Source): Promise<boolean> {
  const [file] = files;
  if (files.length !== 1 || file === undefined || formatOf(file) !== "parquet") return false;
  if ([...types.keys()].some((name) => name.toLowerCase() === "file_row_number")) return false;
  const [found] = await session.rows(
    `SELECT max(row_group_num_rows)::DOUBLE AS "most#" FROM parquet_metadata([${quoteText(file)}])`,
  );
  return Number(found!["most#"]) <= maxGroupRows;
}

/** A column and its value of another type, which is missing for a value that does not fit. */
interface Check {
  readonly name: string;
  readonly cast: string;
  readonly rule: string;
  readonly optional?: boolean;
}

function isUnfit({ name, cast, optional }: Check): string {
  return `(${quoteName(cast)} IS NULL${optional ? ` AND ${quoteName(name)} IS NOT NULL` : ""})`;
}

/** @throws InvalidInputError with a row of each column that has an unfit value */
async function refuseUnfit(session: DuckDbSession, file: string, checks: readonly Check[]): Promise<void> {
  const problems: Problem[] = [];
  for (const check of checks) {
    const [found] = await session.rows(
      `SELECT "label#"::DOUBLE + 1 AS "row#", CAST(${quoteName(check.name)} AS VARCHAR) AS "value#" FROM labels
       WHERE ${isUnfit(check)} ORDER BY "label#" LIMIT 1`,
    );
    const { name, rule } = check;
    if (found) problems.push({ path: `column ${name}, row ${found["row#"]}`, value: found["value#"], rule });
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/** Labels with the numbers of their entities. Their places are those in the file. The arrays are in shared memory. */
export interface EntityLabels extends Labels {
  readonly numbers: EntityNumbers;
}

/**
 * Reads the labels.
 *
 * @param keys SQL of the entities' numbers (`Keys`)
 * @returns the labels with the entities of each key
 */
export async function readLabels(
  session: DuckDbSession,
  rows: number,
  keys: readonly string[],
): Promise<readonly EntityLabels[]> {
  const times = new Float64Array(rows);
  const entities = keys.map(() => ({ numbers: new EntityNumbers(), ofLabels: new Int32Array(rows) }));
  const read = new Float64Array(rowsPerChunk);
  const [entitiesRead, labelsRead] = [new Int32Array(rowsPerChunk), new Int32Array(rowsPerChunk)];
  const columns = ['"label#"', '"at#"', ...keys].map((column) => `CAST(${column} AS DOUBLE)`);
  await visitChunks(session.connection, `SELECT ${columns.join(", ")} FROM labels`, columns.length, (chunk) => {
    const count = chunk.rowCount;
    copyNumbers(chunk, 0, labelsRead);
    copyNumbers(chunk, 1, read);
    scatter(read, count, labelsRead, times);
    for (const [index, { numbers, ofLabels }] of entities.entries()) {
      copyNumbers(chunk, 2 + index, read);
      numbers.addAll(read, count, entitiesRead);
      scatter(entitiesRead, count, labelsRead, ofLabels);
    }
  });
  const { numbers: sorted, places } = sortAscending(times);
  return entities.map(({ numbers, ofLabels }) => ({
    ...{ numbers, entityCount: numbers.count, entities: gather(ofLabels, places), times: sorted, places },
  }));
}

/** A function of its own, because a loop in an asynchronous function is slow. */
function gather(entities: Int32Array, places: Uint32Array): Int32Array {
  const gathered = new Int32Array(new SharedArrayBuffer(entities.byteLength));
  for (let at = 0; at < gathered.length; at += 1) gathered[at] = entities[places[at]!]!;
  return gathered;
}

function scatter<To extends Float64Array | Int32Array>(from: To, count: number, places: Int32Array, to: To): void {
  for (let at = 0; at < count; at += 1) to[places[at]!] = from[at]!;
}
