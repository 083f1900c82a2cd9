import { digestOf } from "../digest";
import { mapLimited } from "../each-limited";
import { InvalidInputError, type Problem } from "../errors";
import { type Clock, isoTime, type ObjectStore } from "../ports";
import { columnsOf } from "./definition";
import { viewChanged } from "./errors";
import type { BatchLog, ViewRepository } from "./ports";
import { resolveView } from "./registry";
import type { Batch, BatchDraft, FeatureValue, ViewVersion } from "./shapes";
import { storedValue } from "./values";

interface RegisterBatchDependencies {
  readonly views: Pick<ViewRepository, "find" | "findNewest">;
  readonly batches: Pick<BatchLog, "append">;
  readonly objects: Pick<ObjectStore, "claimContent">;
  readonly clock: Clock;
}

/** Clocks of machines may differ by this much. */
const toleranceMs = 5 * 60_000;
const claimsAtOnce = 16;

export const futureRule = "must not lie in the future: rows hold from their event time on";

/** Returns the latest time that does not lie in the future. */
export function latestTime(clock: Clock): number {
  return clock.now() + toleranceMs;
}

function isFuture(time: number, clock: Clock): boolean {
  return time > latestTime(clock);
}

/**
 * Makes uploaded rows visible. Idempotent: equal rows are the batch that has them.
 *
 * @throws InvalidInputError for missing content, or rows of the future; FEATURE_VIEW_NOT_FOUND, FEATURE_VIEW_CHANGED,
 * FEATURE_VIEW_BUSY
 */
export async function registerBatch(
  { views, batches, objects, clock }: RegisterBatchDependencies,
  name: string,
  { generation, ...draft }: BatchDraft,
  by: string,
): Promise<{ readonly created: boolean; readonly batch: Batch }> {
  const newest = await resolveView(views, name);
  if (newest.generation !== generation) throw viewChanged(name, generation, newest.generation);
  const problems: Problem[] = [];
  const sum = draft.files.reduce((total, { rows }) => total + rows, 0);
  if (sum !== draft.rows)
    problems.push({ path: "rows", value: draft.rows, rule: `must be ${sum}, the sum of the files` });
  if (isFuture(Date.parse(draft.latestTime), clock))
    problems.push({ path: "latestTime", value: draft.latestTime, rule: futureRule });
  const sizes = await mapLimited(draft.files, claimsAtOnce, ({ sha256 }) => objects.claimContent(sha256));
  for (const [index, { bytes, sha256 }] of draft.files.entries()) {
    if (sizes[index] === bytes) continue;
    const rule = `must be uploaded, with ${bytes} bytes; ingest the rows again`;
    problems.push({ path: `files[${index}]`, value: sha256, rule });
  }
  if (problems.length > 0) throw new InvalidInputError(`the rows of view ${name} cannot be stored`, problems);
  const digest = digestOf(draft.files.map(({ sha256, rows }) => ({ sha256, rows })));
  const batch = { digest, ...draft, receivedAt: isoTime(clock), receivedBy: by };
  return batches.append({ name, generation }, batch);
}

/** An event of EventBridge has at most 256 KiB. */
const maxBytes = 200_000;

const maxShown = 20;

type Row = Readonly<Record<string, FeatureValue>>;

/**
 * Checks rows before they are sent as an event. Columns that the view lacks are refused: nobody sees a warning about
 * them.
 *
 * @throws InvalidInputError with the problems of the first rows that have any
 */
export function checkStreamedRows({ name, definition }: ViewVersion, rows: readonly Row[], clock: Clock): void {
  const problems: Problem[] = [];
  for (const [index, row] of rows.entries()) {
    if (problems.length >= maxShown) break;
    const add = (column: string, rule: string, value?: unknown) =>
      problems.push({ path: `rows[${index}].${column}`, value, rule });
    for (const column of Object.keys(row)) {
      if (!Object.hasOwn(definition.columns, column)) add(column, `must be a column of view ${name}`);
    }
    for (const column of [...definition.entities, definition.eventTime!]) {
      if (!Object.hasOwn(row, column) || row[column] === null) add(column, "value is missing");
    }
    for (const { name: column, type } of columnsOf(definition)) {
      const value = Object.hasOwn(row, column) ? row[column] : null;
      if (value === null || value === undefined) continue;
      const stored = storedValue(value, type);
      if (stored === undefined) add(column, `must be of type ${type}`, value);
      else if ([definition.eventTime, definition.creationTime].includes(column) && isFuture(Number(stored), clock))
        add(column, futureRule, value);
    }
  }
  const bytes = Buffer.byteLength(JSON.stringify(rows));
  if (bytes > maxBytes)
    problems.push({ path: "rows", value: bytes, rule: `must have at most ${maxBytes} bytes as JSON; send fewer` });
  if (problems.length > 0) throw new InvalidInputError(`the rows do not fit view ${name}`, problems);
}
