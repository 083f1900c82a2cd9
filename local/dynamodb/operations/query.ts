import { validation } from "../errors";
import type { Condition, Projection } from "../expression/ast";
import { beginsWith, holds } from "../expression/evaluate";
import { type KeyCondition, type RangeCondition, toKeyCondition } from "../expression/key-condition";
import { conditionPaths, refusePathsIntoKeys } from "../expression/path";
import { checkIndexKeys, checkKey, indexKey, itemKey, keyOf } from "../store/item-keys";
import { bucketOf, compose, encodePrefix, encodeScalar, kind, successor } from "../store/key-codec";
import type { Range } from "../store/store";
import { decodeItem, storedBytes } from "../store/stored-item";
import { type Index, keyNames, type Table } from "../store/table";
import { type AttributeValue, attribute, type Item } from "../value/attribute-value";
import { compareScalars, equalValues } from "../value/compare";
import { readExpressions } from "../wire/expressions";
import type { Fields } from "../wire/fields";
import type { Context, Operation } from "./context";
import { checkProjection, shownJson } from "./items";

/** The size of a page. A page ends with the item that exceeds it, including filtered items. */
const pageBytes = 1024 * 1024;

interface PageRequest {
  readonly tableName: string;
  readonly indexName: string | undefined;
  readonly limit: number | undefined;
  readonly consistent: boolean;
  readonly startKey: Item | undefined;
}

interface Source {
  readonly table: Table;
  readonly index: Index | undefined;
}

export const query: Operation = async (context, fields) => {
  const request = readPageRequest(fields);
  const forward = fields.boolean("ScanIndexForward") ?? true;
  fields.check();
  const { keyCondition, ...expressions } = readExpressions(fields, [
    "ProjectionExpression",
    "FilterExpression",
    "KeyConditionExpression",
  ]);
  if (keyCondition === undefined) {
    throw validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  const source = sourceOf(context.catalog.get(request.tableName), request);
  const key = source.index?.key ?? source.table.key;
  const condition = toKeyCondition(keyCondition, key);
  if (expressions.filter) checkFilter(source, expressions.filter);
  if (request.startKey) checkStartKey(source, request.startKey, condition);
  const interval = intervalOf(source, condition);
  return readPage(context, source, request, expressions, from(source, interval, request.startKey, forward));
};

export const scan: Operation = async (context, fields) => {
  const request = readPageRequest(fields);
  fields.refuse("leave the parameter out", "Segment", "TotalSegments");
  const expressions = readExpressions(fields, ["ProjectionExpression", "FilterExpression"]);
  const source = sourceOf(context.catalog.get(request.tableName), request);
  if (request.startKey) requireExactStartKey(source, request.startKey);
  const head = headOf(source);
  const range = from(source, { gte: head, lt: successor(head) }, request.startKey, true);
  return readPage(context, source, request, expressions, range);
};

function readPageRequest(fields: Fields): PageRequest {
  const request = {
    tableName: fields.tableName(),
    indexName: fields.resourceName("IndexName"),
    limit: fields.integer("Limit", 1),
    consistent: fields.boolean("ConsistentRead") ?? false,
    startKey: fields.item("ExclusiveStartKey"),
  };
  fields.check();
  return request;
}

function sourceOf(table: Table, { indexName, consistent }: PageRequest): Source {
  if (indexName === undefined) return { table, index: undefined };
  const index = table.indexes.find(({ name }) => name === indexName);
  if (!index) throw validation(`The table does not have the specified index: ${indexName}`);
  if (index.status !== "ACTIVE") throw validation(`Cannot read from backfilling global secondary index: ${indexName}`);
  if (consistent) throw validation("Consistent reads are not supported on global secondary indexes");
  return { table, index };
}

function headOf({ table, index }: Source): Buffer {
  return index ? compose(kind.index, [table.id, index.id]) : compose(kind.item, [table.id]);
}

async function readPage(
  { store }: Context,
  { table, index }: Source,
  { limit = Number.POSITIVE_INFINITY }: PageRequest,
  { filter, projection }: { readonly filter?: Condition | undefined; readonly projection?: Projection | undefined },
  range: Range,
): Promise<string> {
  if (projection) checkProjection(table, projection);
  if (filter) refusePathsIntoKeys(conditionPaths(filter), table.keyRoles);
  const shown: string[] = [];
  let scanned = 0;
  let bytes = 0;
  let last: string | undefined;
  const isFull = () => scanned >= limit || bytes > pageBytes;
  await store.scan({ ...range, ...(Number.isFinite(limit) && { limit }) }, (entry) => {
    scanned += 1;
    bytes += storedBytes(entry);
    last = entry;
    if (!filter || holds(filter, decodeItem(entry))) shown.push(shownJson(entry, projection));
    return !isFull();
  });
  const next =
    isFull() && last !== undefined
      ? `,"LastEvaluatedKey":${JSON.stringify(keyOf(table, decodeItem(last), index))}`
      : "";
  return `{"Items":[${shown.join(",")}],"Count":${shown.length},"ScannedCount":${scanned}${next}}`;
}

function checkFilter({ table, index }: Source, filter: Condition): void {
  const names = new Set(keyNames(index?.key ?? table.key));
  const key = conditionPaths(filter).find(([name]) => names.has(name));
  if (!key) return;
  throw validation(`Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key[0]}`);
}

interface Interval {
  readonly gte: Buffer;
  readonly lt: Buffer;
}

/**
 * Returns the interval of keys that a condition selects. Bounds are encoded so that `successor` skips every entry with
 * that sort key.
 */
function intervalOf(source: Source, { hash, range }: KeyCondition): Interval {
  const encoded = encodeScalar(hash);
  const partition = Buffer.concat([headOf(source), bucketOf(encoded), encoded]);
  const at = (value: AttributeValue) => Buffer.concat([partition, encodeScalar(value)]);
  const whole = { gte: partition, lt: successor(partition) };
  if (range === undefined) return whole;
  switch (range.operator) {
    case "=":
      return { gte: at(range.value), lt: successor(at(range.value)) };
    case "<":
      return { ...whole, lt: at(range.value) };
    case "<=":
      return { ...whole, lt: successor(at(range.value)) };
    case ">":
      return { ...whole, gte: successor(at(range.value)) };
    case ">=":
      return { ...whole, gte: at(range.value) };
    case "between":
      return { gte: at(range.low), lt: successor(at(range.high)) };
    case "begins_with": {
      const prefix = Buffer.concat([partition, encodePrefix(range.value)]);
      return { gte: prefix, lt: successor(prefix) };
    }
  }
}

function from({ table, index }: Source, interval: Interval, startKey: Item | undefined, forward: boolean): Range {
  if (startKey === undefined) return { ...interval, reverse: !forward };
  const start = index ? indexKey(table, index, startKey) : itemKey(table, startKey);
  return forward ? { gt: start, lt: interval.lt } : { gte: interval.gte, lt: start, reverse: true };
}

function requireExactStartKey({ table, index }: Source, key: Item): void {
  const names = new Set([...keyNames(table.key), ...(index ? keyNames(index.key) : [])]);
  if (Object.keys(key).length !== names.size || Object.keys(key).some((name) => !names.has(name))) {
    throw validation("The provided starting key is invalid");
  }
  const tableKey = Object.fromEntries(keyNames(table.key).map((name) => [name, attribute(key, name)!]));
  try {
    checkKey(table, tableKey);
    checkIndexKeys(table, key);
  } catch (error) {
    throw validation(`The provided starting key is invalid: ${(error as Error).message}`);
  }
}

function checkStartKey(source: Source, startKey: Item, condition: KeyCondition): void {
  requireExactStartKey(source, startKey);
  const key = source.index?.key ?? source.table.key;
  if (!equalValues(attribute(startKey, key.hash.name)!, condition.hash)) {
    throw validation("The provided starting key is outside query boundaries based on provided conditions");
  }
  if (key.range && condition.range && !inRange(attribute(startKey, key.range.name)!, condition.range)) {
    throw validation("The provided starting key does not match the range key predicate");
  }
}

function inRange(value: AttributeValue, range: RangeCondition): boolean {
  const order = (other: AttributeValue) => compareScalars(value, other) ?? Number.NaN;
  switch (range.operator) {
    case "=":
      return order(range.value) === 0;
    case "<":
      return order(range.value) < 0;
    case "<=":
      return order(range.value) <= 0;
    case ">":
      return order(range.value) > 0;
    case ">=":
      return order(range.value) >= 0;
    case "between":
      return order(range.low) >= 0 && order(range.high) <= 0;
    case "begins_with":
      return beginsWith(value, range.value);
  }
}
