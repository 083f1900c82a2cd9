import { durationMs } from "../../core/feature-plans/shapes";
import { compileFeatures } from "../../core/feature-store/features";
import { assertDistinct, namesIn } from "../../core/feature-store/online";
import type { ViewVersion } from "../../core/feature-store/shapes";
import { featuresOfLabels } from "./as-of-features";
import { createLabels } from "./as-of-labels";
import { canonicalTypes } from "./cast";
import { originsOption } from "./column-origins";
import { type DuckDbSession, quoteName, quoteText } from "./session";

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

/** Values of a column and row group up to which Parquet has a dictionary. Larger ones save few bytes and cost time. */
const maxDictionary = 2_000;

/**
 * Joins each row of a file with the features that were known at its time, and writes all its columns and the features, in
 * the order of the file.
 *
 * @returns the number of rows
 * @throws InvalidInputError if the file lacks a column or has values of other types
 */
export async function joinAsOf(session: DuckDbSession, join: AsOfJoin): Promise<number> {
  const { labels, time, views, fullNames = false, output } = join;
  const versions = views.map(({ version }) => version);
  const definitions = versions.map(({ definition }) => definition);
  const { own, rows, first, last } = await createLabels(session, { file: labels, time, definitions });
  const names = versions.map((version) => namesIn(version, fullNames));
  assertDistinct(versions, names, own);
  const columns = own.map((name) => `labels.${quoteName(name)}`);
  const joins: string[] = [];
  for (const [index, { version, fetch }] of views.entries()) {
    const { definition, features } = version;
    const view = `view${index}`;
    const files = await fetch(daysOf(definition, first, last));
    for (const { name, type } of features) {
      const value = files.length === 0 ? `CAST(NULL AS ${canonicalTypes[type]})` : `${view}.${quoteName(name)}`;
      columns.push(`${value} AS ${quoteName(names[index]!.get(name)!)}`);
    }
    if (files.length === 0) continue;
    const found = await featuresOfLabels(session, definition, files, `windows${index}`);
    joins.push(`LEFT JOIN (${found}) AS ${view} ON ${view}."label#" = labels."label#"`);
  }
  const format = /\.csv$/i.test(output)
    ? "FORMAT csv, HEADER"
    : `FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT ${maxDictionary}, WRITE_BLOOM_FILTER false, ${originsOption(versions, fullNames, time)}`;
  await session.run(
    `COPY (SELECT ${columns.join(", ")} FROM labels ${joins.join(" ")} ORDER BY labels."label#") TO ${quoteText(output)} (${format})`,
  );
  return rows;
}

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
