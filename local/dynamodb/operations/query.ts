import { validation } from "../errors";
import type { Condition } from "../expression/ast";
import { beginsWith } from "../expression/evaluate";
import { type KeyCondition, type RangeCondition, toKeyCondition } from "../expression/key-condition";
import { conditionPaths } from "../expression/path";
import { indexKey, itemKey } from "../store/item-keys";
import { bucketOf, compose, encodePrefix, encodeScalar, kind, successor } from "../store/key-codec";
import type { Range } from "../store/store";
import { keyNames } from "../store/table";
import { type AttributeValue, attribute, type Item } from "../value/attribute-value";
import { compareScalars, equalValues } from "../value/compare";
import { readExpressions } from "../wire/expressions";
import type { Operation } from "./context";
import { lackingNames, readPage, readPageRequest, requireExactStartKey, type Source, sourceOf } from "./page";

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

/** Checks a query's filter. It must not contain key attributes or attributes that the index lacks. */
function checkFilter({ table, index }: Source, filter: Condition): void {
  const names = new Set(keyNames(index?.key ?? table.key));
  const paths = conditionPaths(filter);
  const key = paths.find(([name]) => names.has(name));
  if (key) {
    throw validation(`Filter Expression can only contain non-primary key attributes: Primary key attribute: ${key[0]}`);
  }
  const lacking = lackingNames(index, paths);
  if (lacking.length === 0) return;
  throw validation(
    `One or more parameter values were invalid: Secondary index ${index?.name} does not project one or more filter attributes: [${lacking.join(", ")}]`,
  );
}

interface Interval {
  readonly gte: Buffer;
  readonly lt: Buffer;
}

/**
 * Returns the interval of keys that a condition selects. Bounds are encoded so that `successor` skips every entry with
 * that sort key.
 */
function intervalOf({ table, index }: Source, { hash, range }: KeyCondition): Interval {
  const encoded = encodeScalar(hash);
  const head = index ? compose(kind.index, [table.id, index.id]) : compose(kind.item, [table.id]);
  const partition = Buffer.concat([head, bucketOf(encoded), encoded]);
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
