import { validation } from "../errors";
import { project } from "../expression/projection";
import { keyNames, type Table } from "../store/table";
import type { Item } from "../value/attribute-value";
import { readExpressions } from "../wire/expressions";
import type { Fields } from "../wire/fields";
import { Capacity, readCapacityDetail } from "./capacity";
import type { Context, Operation } from "./context";
import { apply, checkCondition, type ItemWrite, prepare } from "./write";

type ReturnValues = "NONE" | "ALL_OLD" | "ALL_NEW" | "UPDATED_OLD" | "UPDATED_NEW";
const returnValues: readonly ReturnValues[] = ["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"];

export const putItem: Operation = (context, fields) => {
  const common = readCommon(fields, ["NONE", "ALL_OLD"]);
  const item = fields.requiredItem("Item");
  fields.check();
  const { condition } = readExpressions(fields, ["ConditionExpression"]);
  return run(context, { ...common.write, kind: "put", item, condition }, common);
};

export const deleteItem: Operation = (context, fields) => {
  const common = readCommon(fields, ["NONE", "ALL_OLD"]);
  const key = fields.requiredItem("Key");
  fields.check();
  const { condition } = readExpressions(fields, ["ConditionExpression"]);
  return run(context, { ...common.write, kind: "delete", key, condition }, common);
};

export const updateItem: Operation = (context, fields) => {
  const common = readCommon(fields, returnValues);
  const key = fields.requiredItem("Key");
  fields.check();
  const { update = [], condition } = readExpressions(fields, ["UpdateExpression", "ConditionExpression"]);
  return run(context, { ...common.write, kind: "update", key, update, condition }, common);
};

interface Common {
  readonly write: { readonly tableName: string; readonly itemOnFailure: boolean };
  readonly returns: ReturnValues;
  readonly capacity: Capacity;
  readonly collectionMetrics: boolean;
}

function readCommon(fields: Fields, allowed: readonly ReturnValues[]): Common {
  const returns = fields.choice("ReturnValues", returnValues) ?? "NONE";
  const common = {
    write: {
      tableName: fields.tableName(),
      itemOnFailure: fields.choice("ReturnValuesOnConditionCheckFailure", ["ALL_OLD", "NONE"]) === "ALL_OLD",
    },
    returns,
    capacity: new Capacity(readCapacityDetail(fields)),
    collectionMetrics: fields.choice("ReturnItemCollectionMetrics", ["SIZE", "NONE"]) === "SIZE",
  };
  if (!allowed.includes(returns)) throw validation("ReturnValues can only be ALL_OLD or NONE");
  return common;
}

function run(context: Context, write: ItemWrite, { returns, capacity, collectionMetrics }: Common): Promise<object> {
  return context.store.write((draft) => {
    const table = context.catalog.get(write.tableName);
    const prepared = prepare(draft, table, write);
    const failure = checkCondition(prepared);
    if (failure) throw failure;
    const next = apply(draft, prepared, capacity);
    const item = next ?? prepared.found.item;
    return {
      Attributes: returned(returns, write, prepared.found.item, next),
      ConsumedCapacity: capacity.single(),
      ItemCollectionMetrics: collectionMetrics && item ? itemCollectionMetrics(table, item) : undefined,
    };
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

/**
 * Returns the ItemCollectionMetrics of a write. Only tables with local indexes have item collections. The estimate is
 * always the smallest one, at most a gigabyte.
 */
export function itemCollectionMetrics(table: Table, item: Item): object | undefined {
  if (!table.indexes.some((index) => index.scope === "local")) return undefined;
  const [hash] = keyNames(table.key);
  return { ItemCollectionKey: { [hash!]: item[hash!] }, SizeEstimateRangeGB: [0, 1] };
}
