import { InvalidInputError, type Problem } from "../../core/errors";
import type { ViewDefinition } from "../../core/feature-store/shapes";
import { castTo } from "./cast";
import { type DuckDbSession, quoteName } from "./session";
import { openSource } from "./source";

export interface LabelFile {
  /** CSV, Parquet or JSON. */
  readonly file: string;
  /** Column of the time at which a row's features are wanted. */
  readonly time: string;
  readonly definitions: readonly ViewDefinition[];
}

/** Returns the names of the columns that have a view's entities, in `labels` and in the rows of the view. */
export function entityColumns({ entities, columns }: ViewDefinition): readonly string[] {
  return entities.map((name) => `${name} ${columns[name]}#`);
}

/** Returns SQL of an entity's value: times in milliseconds. */
export function entitySql(type: string, value: string): string {
  return type === "timestamp" ? `epoch_ms(${value})` : value;
}

/**
 * Creates the table `labels`: the file's own columns, `at#` in milliseconds, the columns of the views' entities, and `label#`,
 * the number of the row from 0. Returns the own columns, the number of labels, and the first and the last time.
 *
 * @throws InvalidInputError if the file lacks a column or has values of other types
 */
export async function createLabels(session: DuckDbSession, { file, time, definitions }: LabelFile) {
  const own = [...(await openSource(session, file, [])).types.keys()];
  refuseReservedNames(file, own);
  const names = [...new Set([...own, time, ...definitions.flatMap(({ entities }) => entities)])];
  const feature = "feature" as const;
  const { table, types, reading } = await openSource(
    session,
    file,
    names.map((name) => ({ name, type: "string", role: feature })),
  );
  const at = castTo({ name: time, type: "timestamp", role: feature }, types.get(time)!);
  const selected = new Map([["at#", `epoch_ms(${at})`]]);
  const checks: Check[] = [
    { name: time, cast: "at#", rule: "must be a date or time in ISO 8601, and not missing", optional: false },
  ];
  for (const definition of definitions) {
    for (const [index, cast] of entityColumns(definition).entries()) {
      const name = definition.entities[index]!;
      const type = definition.columns[name]!;
      selected.set(cast, entitySql(type, castTo({ name, type, role: feature }, types.get(name)!)));
      checks.push({ name, cast, rule: `must be of type ${type}`, optional: true });
    }
  }
  const columns = [...own.map(quoteName), ...[...selected].map(([name, sql]) => `${sql} AS ${quoteName(name)}`)];
  await reading(() =>
    session.run(
      `CREATE OR REPLACE TABLE labels AS SELECT ${columns.join(", ")}, row_number() OVER () - 1 AS "label#" FROM ${table}`,
    ),
  );
  const [found] = await session.rows(
    `SELECT count(*)::DOUBLE AS "rows#", min("at#")::DOUBLE AS "first#", max("at#")::DOUBLE AS "last#",
       count_if(${checks.map(isUnfit).join(" OR ")})::DOUBLE AS "unfit#" FROM labels`,
  );
  if (found!["unfit#"] !== 0) await refuseUnfit(session, file, checks);
  return { own, rows: Number(found!["rows#"]), first: Number(found!["first#"]), last: Number(found!["last#"]) };
}

/** Refuses columns whose names could be those of the columns that are added. */
function refuseReservedNames(file: string, own: readonly string[]): void {
  const reserved = own.filter((name) => name.endsWith("#"));
  if (reserved.length === 0) return;
  const problems = reserved.map((name): Problem => ({ path: name, rule: "must not end in #; rename the column" }));
  throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/** A column and its value of another type, which is missing for a value that does not fit. */
interface Check {
  readonly name: string;
  readonly cast: string;
  readonly rule: string;
  /** Whether the value may be missing. */
  readonly optional: boolean;
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
