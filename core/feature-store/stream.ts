import { InvalidInputError, type Problem } from "../errors";
import type { Clock } from "../ports";
import { futureRule, isFuture } from "./batches";
import { columnsOf } from "./definition";
import type { FeatureValue, ViewVersion } from "./shapes";
import { storedValue } from "./values";

export const maxStreamedRows = 500;
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
      problems.push({ path: `rows[${index}].${column}`, ...(value === undefined ? {} : { value }), rule });
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
