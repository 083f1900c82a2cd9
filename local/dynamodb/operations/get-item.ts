import type { Projection } from "../expression/ast";
import { refusePathsIntoKeys } from "../expression/path";
import { project } from "../expression/projection";
import { checkKey, itemKey } from "../store/item-keys";
import { decodeItem, storedBytes, storedJson } from "../store/stored-item";
import type { Table } from "../store/table";
import { readExpressions } from "../wire/expressions";
import { Capacity, readCapacityDetail, readUnits } from "./capacity";
import type { Operation } from "./context";

export const getItem: Operation = async ({ store, catalog }, fields) => {
  const capacity = new Capacity(readCapacityDetail(fields));
  const tableName = fields.tableName();
  const key = fields.requiredItem("Key");
  const consistent = fields.boolean("ConsistentRead") ?? false;
  fields.check();
  const { projection } = readExpressions(fields, ["ProjectionExpression"]);
  const table = catalog.get(tableName);
  checkKey(table, key);
  if (projection) checkProjection(table, projection);
  const stored = store.get(itemKey(table, key));
  capacity.add(table, readUnits(stored === undefined ? 0 : storedBytes(stored), consistent));
  return answer({ Item: stored === undefined ? undefined : shownJson(stored, projection) }, capacity.single());
};

export function checkProjection(table: Table, projection: Projection): void {
  refusePathsIntoKeys(projection, table.keyRoles);
}

/** Returns the item's JSON. Without a projection the stored text is not parsed. */
export function shownJson(stored: string, projection: Projection | undefined): string {
  return projection ? JSON.stringify(project(decodeItem(stored), projection)) : storedJson(stored);
}

/** Builds an answer from members that are JSON text. */
function answer(members: Readonly<Record<string, string | undefined>>, consumed?: object): string {
  const parts = Object.entries({ ...members, ConsumedCapacity: consumed && JSON.stringify(consumed) })
    .filter(([, json]) => json !== undefined)
    .map(([name, json]) => `"${name}":${json}`);
  return `{${parts.join(",")}}`;
}
