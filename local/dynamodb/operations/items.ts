import { validation } from "../errors";
import type { Projection } from "../expression/ast";
import { refusePathsIntoKeys } from "../expression/path";
import { project } from "../expression/projection";
import { checkKey, itemKey } from "../store/item-keys";
import { decodeItem, storedJson } from "../store/stored-item";
import type { Table } from "../store/table";
import type { Item } from "../value/attribute-value";
import { readExpressions } from "../wire/expressions";
import type { Fields } from "../wire/fields";
import type { Context, Operation } from "./context";
import { apply, checkCondition, type ItemWrite, prepare } from "./write";

export const getItem: Operation = async ({ store, catalog }, fields) => {
  const tableName = fields.tableName();
  const key = fields.requiredItem("Key");
  fields.boolean("ConsistentRead");
  fields.check();
  const { projection } = readExpressions(fields, ["ProjectionExpression"]);
  const table = catalog.get(tableName);
  checkKey(table, key);
  if (projection) checkProjection(table, projection);
  const stored = store.get(itemKey(table, key));
  return stored === undefined ? {} : `{"Item":${shownJson(stored, projection)}}`;
};

export function checkProjection(table: Table, projection: Projection): void {
  refusePathsIntoKeys(projection, table.keyRoles);
}

/** Returns the item's JSON. Without a projection the stored text is not parsed. */
export function shownJson(stored: string, projection: Projection | undefined): string {
  return projection ? JSON.stringify(project(decodeItem(stored), projection)) : storedJson(stored);
}

type ReturnValues = "NONE" | "ALL_OLD" | "ALL_NEW" | "UPDATED_OLD" | "UPDATED_NEW";
const returnValues: readonly ReturnValues[] = ["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"];

export const putItem: Operation = (context, fields) => {
  const common = readCommon(fields, ["NONE", "ALL_OLD"]);
  const item = fields.requiredItem("Item");
  fields.check();
  const { condition } = readExpressions(fields, ["ConditionExpression"]);
  return run(context, { ...common.write, kind: "put", item, condition }, common.returns);
};

export const deleteItem: Operation = (context, fields) => {
  const common = readCommon(fields, ["NONE", "ALL_OLD"]);
  const key = fields.requiredItem("Key");
  fields.check();
  const { condition } = readExpressions(fields, ["ConditionExpression"]);
  return run(context, { ...common.write, kind: "delete", key, condition }, common.returns);
};

export const updateItem: Operation = (context, fields) => {
  const common = readCommon(fields, returnValues);
  const key = fields.requiredItem("Key");
  fields.check();
  const { update = [], condition } = readExpressions(fields, ["UpdateExpression", "ConditionExpression"]);
  return run(context, { ...common.write, kind: "update", key, update, condition }, common.returns);
};

function readCommon(fields: Fields, allowed: readonly ReturnValues[]) {
  const returns = fields.choice("ReturnValues", returnValues) ?? "NONE";
  const write = {
    tableName: fields.tableName(),
    itemOnFailure: fields.choice("ReturnValuesOnConditionCheckFailure", ["ALL_OLD", "NONE"]) === "ALL_OLD",
  };
  if (!allowed.includes(returns)) throw validation("ReturnValues can only be ALL_OLD or NONE");
  return { write, returns };
}

function run(context: Context, write: ItemWrite, returns: ReturnValues): Promise<object> {
  return context.store.write((draft) => {
    const prepared = prepare(draft, context.catalog.get(write.tableName), write);
    const failure = checkCondition(prepared);
    if (failure) throw failure;
    const next = apply(draft, prepared);
    return { Attributes: returned(returns, write, prepared.found.item, next) };
  });
}

function returned(
  returns: ReturnValues,
  write: ItemWrite,
  before: Item | undefined,
  after: Item | undefined,
): Item | undefined {
  if (returns === "ALL_OLD") return before;
  if (returns === "ALL_NEW") return after;
  if (returns === "NONE" || write.kind !== "update") return undefined;
  const item = returns === "UPDATED_OLD" ? before : after;
  const paths = write.update.map((action) => action.path);
  const attributes = item && project(item, paths);
  return attributes && Object.keys(attributes).length > 0 ? attributes : undefined;
}
