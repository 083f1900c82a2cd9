import { statSync } from "node:fs";
import { InvalidInputError } from "../../core/errors";
import { durationMs } from "../../core/feature-plans/shapes";
import { compileFeatures } from "../../core/feature-store/features";
import { assertDistinct, namesIn } from "../../core/feature-store/online";
import type { FoundRows } from "../../core/feature-store/replay";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { arrivedRows, featuresOf, numberFeatures, windowedFeatures } from "./as-of-features";
import { createKeys, type Keys } from "./as-of-keys";
import { openLabels, readLabels } from "./as-of-labels";
import { type FindAll, type ViewSearch, withSearchThreads } from "./as-of-threads";
import { canonicalTypes } from "./cast";
import { originsOption } from "./column-origins";
import { withFoundValues } from "./found-values";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { openSource, type Source } from "./source";

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
  /** Values of all labels that are held in memory as numbers. More are joined by the arrival of their row, as texts are. */
  readonly maxValues?: number;
  /** Bundle of `as-of-worker.ts`. Views are searched in this thread if there is no such file. */
  readonly script?: string;
  /** See `SearchOptions`. */
  readonly maxEarlyNumbers?: number;
}

/**
 * Joins each row of a file with the features that were known at its time, and writes all its columns and the features.
 * DuckDB reads and writes; between them `Replay` finds the row of each view and its numbers, so no join compares times.
 * Texts are joined by the arrival of the row.
 *
 * @returns the number of rows
 * @throws InvalidInputError if the file lacks a column, has values of other types, or changes during the join
 */
export async function joinAsOf(session: DuckDbSession, join: AsOfJoin): Promise<number> {
  const { labels, views, fullNames = false, output, script, maxEarlyNumbers } = join;
  const unchanged = stateOf(labels);
  const { source, rows, columns, joins, values } = await withSearchThreads(
    session,
    { views: views.length, script, maxEarlyNumbers },
    (findAll) => findFeatures(session, join, findAll),
  );
  const format = /\.csv$/i.test(output)
    ? "(FORMAT csv, HEADER)"
    : `(FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT ${maxDictionary}, WRITE_BLOOM_FILTER false, ${originsOption(
        views.map(({ version }) => version),
        fullNames,
        join.time,
      )})`;
  const write = async (found: string) => {
    const label = `SELECT *, ${found} AS "found#" FROM labels`;
    // A scan gives the labels in their order; a join may not.
    const order = joins.length === 0 ? "" : 'ORDER BY labels."label#"';
    try {
      await session.run(
        `COPY (SELECT ${columns.join(", ")} FROM (${label}) AS labels ${joins.map((join) => join(found)).join(" ")} ${order})
         TO ${quoteText(output)} ${format}`,
      );
    } catch (error) {
      // The labels may be damaged in a column that only the output reads.
      await source.reading(() => session.run(`SELECT count(hash(COLUMNS(*))) FROM labels`));
      throw error;
    }
  };
  // One more thread, because threads wait for this one, which looks up what the labels have found.
  await session.run(`SET threads = ${session.threads + 1}`);
  if (values.length === 0) await write("NULL");
  else await withFoundValues(session.connection, values, (name) => write(`${name}(CAST("label#" AS DOUBLE))`));
  await session.run(`SET threads = ${session.threads}`);
  // The file has been read several times.
  if (stateOf(labels) !== unchanged) {
    const rule = "must not change while it is read; join it again";
    throw new InvalidInputError("the rows cannot be joined", [{ path: labels, rule }]);
  }
  return rows;
}

/** Returns what another write to a file changes; `undefined` if there is no such file. */
function stateOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && [found.dev, found.ino, found.size, found.mtimeNs].join();
}

/** Parts of the query that writes the joined rows. */
interface FoundFeatures {
  readonly source: Source;
  /** Number of labels. */
  readonly rows: number;
  /** SQL of the columns. */
  readonly columns: readonly string[];
  /** Joins with the views' rows. The argument is SQL of the values that a label has found. */
  readonly joins: readonly ((found: string) => string)[];
  readonly values: readonly FoundRows[];
}

/** Opens the view `labels`, and finds the values of their features. */
async function findFeatures(session: DuckDbSession, join: AsOfJoin, findAll: FindAll): Promise<FoundFeatures> {
  const { views, fullNames = false, maxValues = defaultMaxValues } = join;
  const versions = views.map(({ version }) => version);
  const { types } = await openSource(session, join.labels, []);
  const own = [...types.keys()];
  const definitions = versions.map(({ definition }) => definition);
  const { source, entities, rows, first, last } = await openLabels(session, {
    ...{ file: join.labels, own, time: join.time, definitions },
  });
  const names = versions.map((version) => namesIn(version, fullNames));
  assertDistinct(versions, names, own);
  const keysByColumns = new Map<string, Keys>();
  const labelKeys = new Set<string>();
  const searches: ViewSearch[] = [];
  const parts: JoinedView[] = [];
  let place = 0;
  for (const [index, { version, fetch }] of views.entries()) {
    const { definition } = version;
    const files = await fetch(daysOf(definition, first, last));
    if (files.length === 0) {
      parts.push(viewWithoutRows(version, names[index]!));
      continue;
    }
    const columns = entities[index]!;
    const id = JSON.stringify(columns);
    const keys = keysByColumns.get(id) ?? (await createKeys(session, columns, `keys_${keysByColumns.size}`));
    keysByColumns.set(id, keys);
    const { table, viewRows } = await arrivedRows(session, files, definition);
    const { windows } = compileFeatures(definition);
    // Steps may read windows, which a label has and not a row: they are computed with the labels.
    const view = windows ? table : featuresOf(version, table);
    const part = joinView({
      version,
      names: names[index]!,
      alias: `view${index}`,
      view,
      place,
      fitsMemory: (count) => rows * count <= maxValues,
    });
    parts.push(part);
    const { values } = part;
    place += values.length + (windows?.all.length ?? 0);
    const isOrdered = files.length === 1 && definition.creationTime === undefined && !windows;
    const search = { ...searchOf(definition, keys), view, viewRows, values, isOrdered, windows };
    const key = keys.of(columns);
    labelKeys.add(key);
    if (values.length > 0) searches.push({ search, labelsIndex: [...labelKeys].indexOf(key), isLocal: keys.isLocal });
  }
  const values = searches.length === 0 ? [] : await findAll(searches, () => readLabels(session, rows, [...labelKeys]));
  const columns = [...own.map((name) => `labels.${quoteName(name)}`), ...parts.flatMap(({ columns }) => columns)];
  return { source, rows, columns, joins: parts.flatMap(({ join }) => join ?? []), values };
}

/** A view's part of the query that writes the joined rows. */
interface JoinedView {
  /** SQL of the features. */
  readonly columns: readonly string[];
  /** SQL of the numbers that labels find in the view's rows. */
  readonly values: readonly string[];
  /** Join with the view's rows, if labels do not find all features as numbers. */
  readonly join?: FoundFeatures["joins"][number];
}

function viewWithoutRows({ features }: ViewVersion, names: ReadonlyMap<string, string>): JoinedView {
  const columns = features.map(
    ({ name, type }) => `CAST(NULL AS ${canonicalTypes[type]}) AS ${quoteName(names.get(name)!)}`,
  );
  return { columns, values: [] };
}

/** Divides a view's features into the numbers that labels find, and those that a join by the arrival of the row gives. */
function joinView({
  version,
  names,
  alias,
  view,
  place,
  fitsMemory,
}: {
  readonly version: ViewVersion;
  /** Names of the features in the output. */
  readonly names: ReadonlyMap<string, string>;
  readonly alias: string;
  /** SQL of the view's rows, with their features unless the view has windows. */
  readonly view: string;
  /** Number of values that earlier views' rows have. */
  readonly place: number;
  /** Whether so many values of each label fit in memory. */
  readonly fitsMemory: (count: number) => boolean;
}): JoinedView {
  const hasWindows = compileFeatures(version.definition).windows !== undefined;
  const numbers: ReturnType<typeof numberFeatures> = hasWindows ? new Map() : numberFeatures(version);
  const areNumbersFound = fitsMemory(place + numbers.size);
  const columns: string[] = [];
  const values: string[] = [];
  const joined: string[] = [];
  for (const { name } of version.features) {
    const number = areNumbersFound ? numbers.get(name) : undefined;
    const value = number?.restored(`labels."found#".v${place + values.length}`) ?? `${alias}.${quoteName(name)}`;
    columns.push(`${value} AS ${quoteName(names.get(name)!)}`);
    if (number) values.push(number.sql);
    else joined.push(quoteName(name));
  }
  if (joined.length === 0) return { columns, values };
  const arrival = place + values.length;
  return {
    columns,
    values: [...values, 'CAST("arrival#" AS DOUBLE)'],
    join: hasWindows
      ? (found) => `LEFT JOIN (${windowedFeatures(version, view, found, arrival)}) AS ${alias}
          ON ${alias}."label#" = labels."label#"`
      : () => `LEFT JOIN (SELECT "arrival#", ${joined.join(", ")} FROM ${view}) AS ${alias}
          ON ${alias}."arrival#" = CAST(labels."found#".v${arrival} AS BIGINT)`,
  };
}

function searchOf({ entities, columns, eventTime, creationTime, ttl }: ViewVersion["definition"], keys: Keys) {
  const event = `CAST(epoch_ms(${quoteName(eventTime!)}) AS DOUBLE)`;
  return {
    key: keys.of(entities.map((name) => ({ column: name, type: columns[name]! }))),
    enumeration: keys.enumeration,
    event,
    ...(creationTime === undefined
      ? {}
      : { creation: `coalesce(CAST(epoch_ms(${quoteName(creationTime)}) AS DOUBLE), ${event})` }),
    ...(ttl === undefined ? {} : { ttlMs: durationMs(ttl) }),
  };
}

/** 256 MB. */
const defaultMaxValues = 1 << 25;
/** Values of a column and row group up to which Parquet has a dictionary. Larger ones save few bytes and cost time. */
const maxDictionary = 2_000;

/** Returns the days whose rows may count for labels of these times. */
function daysOf(definition: ViewVersion["definition"], first: number, last: number): Days {
  const { ttl } = definition;
  const { maxOverMs = 0 } = compileFeatures(definition).windows ?? {};
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  return {
    from: ttl === undefined ? "0000-01-01" : dayOf(first - Math.max(durationMs(ttl), maxOverMs)),
    to: dayOf(last),
  };
}
