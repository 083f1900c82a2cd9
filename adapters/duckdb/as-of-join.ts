import { InvalidInputError, type Problem } from "../../core/errors";
import { compileFeatures } from "../../core/feature-store/features";
import { assertDistinct, namesIn } from "../../core/feature-store/online";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { selectFeatures } from "../../core/views/compile";
import { duckdb } from "../../core/views/dialects";
import { durationMs } from "../../core/views/shapes";
import { canonicalTypes, castTo } from "./cast";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource, reading } from "./source";
import { rowColumns, viewTable } from "./view-rows";

/** Days of event times (UTC), both inclusive. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

export interface StoredView {
  readonly version: ViewVersion;
  /** Returns local files that have the rows of the days, in the order of their arrival. */
  fetch(days: Days): Promise<readonly string[]>;
}

export interface AsOfJoin {
  /** CSV, Parquet or JSON with the rows for which features are wanted. */
  readonly labels: string;
  /** Column of the time at which a row's features are wanted. */
  readonly time: string;
  readonly views: readonly StoredView[];
  readonly fullNames?: boolean;
  /** Path of a Parquet or CSV file. */
  readonly output: string;
}

/**
 * Joins each row of a file with the features that were known at its time, and writes all its columns and the features.
 *
 * A view's row is available from `max(event time, creation time)` on. Among the available rows of an entity the latest
 * counts (`orderOf`), unless it is older than the TTL. In the order of availability, a row that is not later than an
 * available one never counts; without those rows, the last available row is the latest one, which is what an ASOF join
 * finds.
 *
 * @returns the number of rows
 * @throws InvalidInputError if the file lacks a column or has values of other types
 */
export async function joinAsOf(session: DuckDbSession, join: AsOfJoin): Promise<number> {
  const { views, fullNames = false, output } = join;
  const source = await openSource(session, join.labels, []);
  const { own, entities } = await openLabels(session, join, [...source.types.keys()]);
  const names = views.map(({ version }) => namesIn(version, fullNames));
  assertDistinct(
    views.map(({ version }) => version),
    names,
    own,
  );
  const features: string[] = [];
  for (const [index, { version, fetch }] of views.entries()) {
    const files = await fetch(await daysOf(session, version.definition));
    if (files.length === 0) await session.run(emptyTable(`joined${index}`, version));
    else await joinView(session, version.definition, files, `joined${index}`, entities[index]!);
    for (const [name, shown] of names[index]!) {
      features.push(`joined${index}.${quoteName(name)} AS ${quoteName(shown)}`);
    }
  }
  const columns = [...own.map((name) => `labels.${quoteName(name)}`), ...features];
  const joins = views.map((_, index) => `LEFT JOIN joined${index} ON joined${index}."label#" = labels."label#"`);
  const format = /\.csv$/i.test(output) ? "(FORMAT csv, HEADER)" : "(FORMAT parquet, COMPRESSION snappy)";
  await session.run(
    `COPY (SELECT ${columns.join(", ")} FROM labels ${joins.join(" ")} ORDER BY labels."label#") TO ${quoteText(output)} ${format}`,
  );
  const [counted] = await session.rows(`SELECT count(*)::DOUBLE AS "rows#" FROM labels`);
  return Number(counted!["rows#"]);
}

/**
 * Reads the file into the table `labels`: its own columns, `label#`, `at#` in milliseconds, and a column for each entity
 * column and type.
 */
async function openLabels(session: DuckDbSession, { labels: file, time, views }: AsOfJoin, own: readonly string[]) {
  const reserved = own.filter((name) => name.endsWith("#"));
  if (reserved.length > 0) {
    const problems = reserved.map((name): Problem => ({ path: name, rule: "must not end in #; rename the column" }));
    throw new InvalidInputError(`${file} cannot be joined`, problems);
  }
  const keys = views.map(({ version: { definition } }) =>
    definition.entities.map((name) => ({ name, type: definition.columns[name]! })),
  );
  const all = [...new Set([...own, time, ...keys.flat().map(({ name }) => name)])];
  const { table, types } = await openSource(
    session,
    file,
    all.map((name) => ({ name, type: "string", role: "feature" })),
  );
  const casts = new Map<string, string>();
  const nameOf = ({ name, type }: { name: string; type: string }) => `${name} ${type}#`;
  for (const key of keys.flat()) {
    const column = { ...key, role: "feature" as const };
    casts.set(nameOf(key), castTo(column, types.get(key.name)!));
  }
  const at = `epoch_ms(${castTo({ name: time, type: "timestamp", role: "feature" }, types.get(time)!)})`;
  const selected = [...casts].map(([name, sql]) => `${sql} AS ${quoteName(name)}`);
  await reading(file, () =>
    session.run(
      `CREATE OR REPLACE TEMP TABLE labels AS
       SELECT row_number() OVER () AS "label#", ${[...own.map(quoteName), `${at} AS "at#"`, ...selected].join(", ")} FROM ${table}`,
    ),
  );
  await refuseUnfit(session, file, [
    { name: time, cast: "at#", rule: "must be a date or time in ISO 8601, and not missing" },
    ...keys
      .flat()
      .map((key) => ({ name: key.name, cast: nameOf(key), rule: `must be of type ${key.type}`, optional: true })),
  ]);
  return { own, entities: keys.map((some) => some.map((key) => ({ name: key.name, cast: nameOf(key) }))) };
}

async function refuseUnfit(
  session: DuckDbSession,
  file: string,
  checks: readonly {
    readonly name: string;
    readonly cast: string;
    readonly rule: string;
    readonly optional?: boolean;
  }[],
): Promise<void> {
  const problems: Problem[] = [];
  for (const { name, cast, rule, optional } of checks) {
    const given = `CAST(${quoteName(name)} AS VARCHAR)`;
    const [found] = await session.rows(
      `SELECT "label#"::DOUBLE AS "row#", ${given} AS "value#" FROM labels
       WHERE ${quoteName(cast)} IS NULL ${optional ? `AND ${given} IS NOT NULL` : ""} LIMIT 1`,
    );
    if (found) problems.push({ path: `column ${name}, row ${found["row#"]}`, value: found["value#"], rule });
  }
  if (problems.length > 0) throw new InvalidInputError(`${file} cannot be joined`, problems);
}

/** Returns the days whose rows may count for a row of `labels`. */
async function daysOf(session: DuckDbSession, { ttl }: ViewVersion["definition"]): Promise<Days> {
  const [found] = await session.rows(
    'SELECT min("at#")::DOUBLE AS "first#", max("at#")::DOUBLE AS "last#" FROM labels',
  );
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  const from = ttl === undefined ? "0000-01-01" : dayOf(Number(found!["first#"]) - durationMs(ttl));
  return { from, to: dayOf(Number(found!["last#"])) };
}

function emptyTable(name: string, { features }: ViewVersion): string {
  const columns = features.map((one) => `CAST(NULL AS ${canonicalTypes[one.type]}) AS ${quoteName(one.name)}`);
  return `CREATE OR REPLACE TEMP TABLE ${name} AS SELECT CAST(NULL AS BIGINT) AS "label#", ${columns.join(", ")} WHERE false`;
}

/** Makes the table `name`: a row for each row of `labels` that has features, with `label#` and the features. */
async function joinView(
  session: DuckDbSession,
  definition: ViewVersion["definition"],
  files: readonly string[],
  name: string,
  entities: readonly { readonly name: string; readonly cast: string }[],
): Promise<void> {
  const { plan, columns } = compileFeatures(definition);
  const read = new Set([...columns, ...(plan?.columns ?? []).map((column) => column.name)]);
  const kept = rowColumns(definition).flatMap((column) => (read.has(column.name) ? [quoteName(column.name)] : []));
  const ttl = definition.ttl === undefined ? undefined : durationMs(definition.ttl);
  const held = ttl === undefined ? "true" : `view."event#" >= labels."at#" - ${ttl}`;
  const on = entities.map((one) => `labels.${quoteName(one.cast)} = view.${quoteName(one.name)}`);
  const { table, labelKey } = await availableRows(session, definition, files);
  const casts = [...new Set(entities.map((one) => quoteName(one.cast)))];
  await session.run(
    `CREATE OR REPLACE TEMP TABLE found AS
     SELECT labels."label#", ${kept.map((column) => `view.${column}`).join(", ")}
     FROM (SELECT "label#", "at#", ${labelKey} AS "key#", ${casts.join(", ")} FROM labels) AS labels
     ASOF JOIN ${table} AS view ON ${[...on, 'labels."key#" >= view."key#"'].join(" AND ")} WHERE ${held}`,
  );
  const features =
    plan === undefined ? "SELECT * FROM found" : selectFeatures(plan, duckdb, "found", ["label#", ...columns]);
  await session.run(`CREATE OR REPLACE TEMP TABLE ${name} AS ${features}`);
}

/** Whole numbers of DuckDB's BIGINT have 63 bits. */
const maxKey = 2 ** 62;

/**
 * Returns a table of the rows that are the latest of their entity from `key#` on, and the expression of a row of
 * `labels` that is compared with `key#`.
 */
async function availableRows(
  session: DuckDbSession,
  definition: ViewVersion["definition"],
  files: readonly string[],
): Promise<{ readonly table: string; readonly labelKey: string }> {
  const { eventTime, creationTime, entities } = definition;
  const stored = await viewTable(session, files, definition);
  const event = `epoch_ms(${quoteName(eventTime!)})`;
  const [found] = await session.rows(
    `SELECT min(${event})::DOUBLE AS "first#", max(${event})::DOUBLE AS "last#", max(file_row_number)::DOUBLE AS "rows#" FROM ${stored}`,
  );
  const [first, last, rows] = ["first#", "last#", "rows#"].map((name) => Number(found![name])) as [
    number,
    number,
    number,
  ];
  const arrivals = (rows + 1) * files.length;
  const table = `(SELECT *, ${event} AS "event#", file_index * ${rows + 1} + file_row_number AS "arrival#" FROM ${stored})`;
  if (creationTime === undefined && (last - first + 3) * arrivals < maxKey) {
    // Each row is available at its event time. The key adds the arrival, which orders rows with one event time.
    const key = (time: string, arrival: string | number) => `(${time} - ${first}) * ${arrivals} + ${arrival}`;
    const inRange = `greatest(${first - 1}, least(${last + 1}, "at#"))`;
    return {
      table: `(SELECT *, ${key('"event#"', '"arrival#"')} AS "key#" FROM ${table})`,
      labelKey: key(inRange, arrivals - 1),
    };
  }
  const creation = creationTime === undefined ? '"event#"' : `coalesce(epoch_ms(${quoteName(creationTime)}), "event#")`;
  const partition = `PARTITION BY ${entities.map(quoteName).join(", ")}`;
  const ordered = `SELECT *, greatest("event#", ${creation}) AS "key#", ROW("event#", ${creation}, "arrival#") AS "order#" FROM ${table}`;
  return {
    table: `(SELECT * FROM
      (SELECT *, max("order#") OVER (${partition} ORDER BY "key#", "order#" ROWS UNBOUNDED PRECEDING) AS "latest#" FROM (${ordered}))
      WHERE "order#" = "latest#" QUALIFY row_number() OVER (${partition}, "key#" ORDER BY "order#" DESC) = 1)`,
    labelKey: '"at#"',
  };
}
