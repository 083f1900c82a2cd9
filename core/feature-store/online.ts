import { InvalidInputError, type Problem } from "../errors";
import { durationMs } from "../feature-plans/shapes";
import type { Clock } from "../ports";
import { compileFeatures } from "./features";
import type { OnlineStore } from "./ports";
import { type FeatureValue, namesIn, type OnlineFeatures, type ViewVersion } from "./shapes";
import { storedValue } from "./values";
import { aggregateRows } from "./windows";

/** When a row holds, when it became known, and its place among all rows that arrived. */
interface RowTimes {
  readonly eventTime: number;
  /** Absent: the row was known at its event time. */
  readonly creationTime?: number | null | undefined;
  /** Sequence of the row's batch. */
  readonly sequence: number;
  /** Place of the row in its batch. */
  readonly row: number;
}

/** Date accepts ±8.64e15 milliseconds. */
const epoch = 10 ** 16;

/**
 * Returns a text whose lexical order is the order of an entity's rows: event time, creation time, arrival. The latest
 * row has the greatest text. The online store compares this text; the offline store sorts by the same parts
 * (`adapters/duckdb/view-rows.ts`).
 */
export function orderOf({ eventTime, creationTime, sequence, row }: RowTimes): string {
  const whole = (n: number) => String(n).padStart(12, "0");
  return [timeOrder(eventTime), timeOrder(creationTime ?? eventTime), whole(sequence), whole(row)].join(".");
}

/** Returns the text with which `orderOf` of a row with this event time begins. */
export function timeOrder(ms: number): string {
  return String(ms + epoch).padStart(17, "0");
}

/** Returns whether a row is too old at a time. @param ttlMs absent: rows hold until a later one */
export function isExpired(eventTime: number, ttlMs: number | undefined, at: number): boolean {
  return ttlMs !== undefined && eventTime < at - ttlMs;
}

type Entity = Readonly<Record<string, FeatureValue>>;

/** Returns the text that identifies an entity: its values in the order of the view's entities; times in milliseconds. */
export function entityKey(values: readonly unknown[]): string {
  return JSON.stringify(values);
}

/** Most reads of a request, one for each entity and view. */
export const maxReads = 100;

/** Most rows of an entity that windows of a view aggregate in a request. */
export const maxWindowRows = 10_000;

/**
 * Reads the features of entities from the online store: one read for each entity and view, and a query for a view with
 * windows. Features of an entity without a row, or with one beyond the TTL, are null.
 *
 * @param fullNames names features `view__feature`
 * @throws InvalidInputError if an entity lacks a column or has too many rows for a window, or features of two views have
 * one name
 */
export async function readOnline(
  { online, clock }: { readonly online: Pick<OnlineStore, "get" | "getWindowRows">; readonly clock: Clock },
  versions: readonly ViewVersion[],
  entities: readonly Entity[],
  fullNames = false,
): Promise<readonly OnlineFeatures[]> {
  const reads = versions.length * entities.length;
  if (reads > maxReads) {
    const rule = `must be at most ${maxReads} for each request: entities × views`;
    throw new InvalidInputError("the features cannot be read", [{ path: "entities", value: reads, rule }]);
  }
  const names = versions.map((version) => namesIn(version, fullNames));
  assertDistinct(versions, names);
  const keys = versions.map((version) => keysOf(version, entities));
  const latest = await Promise.all(
    versions.map(({ name, generation }, view) => online.get({ name, generation }, keys[view]!)),
  );
  const now = clock.now();
  const windows = await Promise.all(versions.map((version, view) => windowsAt(online, version, keys[view]!, now)));
  return entities.map((entity, index) => {
    const features: Record<string, FeatureValue> = {};
    const eventTimes: Record<string, string | null> = {};
    for (const [view, { name, definition }] of versions.entries()) {
      const row = latest[view]![index];
      const ttl = definition.ttl === undefined ? undefined : durationMs(definition.ttl);
      const isHeld = row !== undefined && !isExpired(row.eventTime, ttl, now);
      eventTimes[name] = isHeld ? new Date(row.eventTime).toISOString() : null;
      const values = isHeld ? compileFeatures(definition).of({ ...row.values, ...windows[view]?.[index] }) : undefined;
      for (const [feature, shown] of names[view]!) features[shown] = values?.[feature] ?? null;
    }
    return { entity, features, eventTimes };
  });
}

/** Returns the windows of each entity; `undefined` if the view has none. @throws InvalidInputError */
async function windowsAt(
  online: Pick<OnlineStore, "getWindowRows">,
  { name, generation, definition }: ViewVersion,
  keys: readonly string[],
  now: number,
) {
  const { windows } = compileFeatures(definition);
  if (windows === undefined) return undefined;
  const since = now - windows.maxOverMs;
  const rowsOfKeys = await Promise.all(
    keys.map((key) => online.getWindowRows({ name, generation }, key, since, maxWindowRows + 1)),
  );
  const problems = rowsOfKeys.flatMap((rows, index): Problem[] => {
    if (rows.length <= maxWindowRows) return [];
    const rule = `must have at most ${maxWindowRows} rows in the windows of view ${name}; aggregate them before you ingest them`;
    return [{ path: `entities[${index}]`, value: keys[index], rule }];
  });
  if (problems.length > 0) throw new InvalidInputError("the features cannot be read", problems);
  return rowsOfKeys.map((rows) => aggregateRows(windows, rows, now));
}

/** @throws InvalidInputError if two views, or a view and other columns, have features of one name */
export function assertDistinct(
  versions: readonly ViewVersion[],
  names: readonly ReadonlyMap<string, string>[],
  others: readonly string[] = [],
): void {
  const owners = new Map(others.map((name) => [name.toLowerCase(), "the rows"]));
  const problems: Problem[] = [];
  for (const [index, { name }] of versions.entries()) {
    for (const shown of names[index]!.values()) {
      const owner = owners.get(shown.toLowerCase());
      owners.set(shown.toLowerCase(), `view ${name}`);
      if (owner === undefined) continue;
      const rule = `is also a name in ${owner}; use full names (--full-names, fullNames: true), which begin with the view's name`;
      problems.push({ path: `view ${name}`, value: shown, rule });
    }
  }
  if (problems.length > 0) throw new InvalidInputError("the features have no distinct names", problems);
}

/** @throws InvalidInputError with every problem */
function keysOf({ name, definition }: ViewVersion, entities: readonly Entity[]): readonly string[] {
  const problems: Problem[] = [];
  const keys = entities.map((entity, index) =>
    entityKey(
      definition.entities.map((column) => {
        const input = Object.hasOwn(entity, column) ? entity[column] : undefined;
        const type = definition.columns[column]!;
        const value = storedValue(input, type);
        if (value === undefined) {
          const rule = `must be given for view ${name}, as ${type}`;
          problems.push({
            path: `entities[${index}].${column}`,
            value: input,
            rule,
          });
        }
        return value;
      }),
    ),
  );
  if (problems.length > 0) throw new InvalidInputError("the features cannot be read", problems);
  return keys;
}
