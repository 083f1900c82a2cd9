import { conditionFailed, type DynamoDbError, validation } from "../errors";
import { applyUpdate } from "../expression/apply-update";
import type { Condition, Update } from "../expression/ast";
import { holds } from "../expression/evaluate";
import { conditionPaths, refusePathsIntoKeys, updatePaths } from "../expression/path";
import { checkIndexKeys, checkItem, checkKey } from "../store/item-keys";
import type { Draft } from "../store/store";
import { keyNames, type Table } from "../store/table";
import { type Found, find, replaceItem } from "../store/write-item";
import { emptyItem, type Item } from "../value/attribute-value";
import { itemBytes, maxItemBytes } from "../value/size";

export type ItemWrite = {
  readonly tableName: string;
  readonly condition?: Condition | undefined;
  /** Whether the error contains the item when the condition fails. */
  readonly itemOnFailure?: boolean;
} & (
  | { readonly kind: "put"; readonly item: Item }
  | { readonly kind: "update"; readonly key: Item; readonly update: Update }
  | { readonly kind: "delete" | "check"; readonly key: Item }
);

/** A write with its current item. `apply` makes the change. */
export interface PreparedWrite {
  readonly write: ItemWrite;
  readonly table: Table;
  readonly found: Found;
}

export function prepare(draft: Draft, table: Table, write: ItemWrite): PreparedWrite {
  if (write.kind === "put") checkItem(table, write.item);
  else checkKey(table, write.key);
  if (write.kind === "update") checkUpdate(table, write.update);
  if (write.condition) refusePathsIntoKeys(conditionPaths(write.condition), table.keyRoles);
  return { write, table, found: find(draft, table, write.kind === "put" ? write.item : write.key) };
}

function checkUpdate(table: Table, update: Update): void {
  for (const name of keyNames(table.key)) {
    if (update.some((action) => action.path[0] === name && action.path.length === 1)) {
      throw validation(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      );
    }
  }
  refusePathsIntoKeys(updatePaths(update), table.keyRoles);
}

export function checkCondition({ write, found }: PreparedWrite): DynamoDbError | undefined {
  if (!write.condition || holds(write.condition, found.item ?? noItem)) return undefined;
  return conditionFailed(write.itemOnFailure ? found.item : undefined);
}

const noItem: Item = emptyItem();

export function apply(draft: Draft, { write, table, found }: PreparedWrite): Item | undefined {
  if (write.kind === "check") return found.item;
  const next = afterWrite(write, table, found);
  const bytes = next && itemBytes(next);
  if (bytes !== undefined && bytes > maxItemBytes) throw tooLarge(write.kind);
  replaceItem(draft, table, found, next, bytes);
  return next;
}

function afterWrite(write: ItemWrite, table: Table, found: Found): Item | undefined {
  if (write.kind === "put") return write.item;
  if (write.kind !== "update") return undefined;
  const next = applyUpdate(write.update, found.item ?? write.key);
  checkIndexKeys(table, next);
  return next;
}

function tooLarge(kind: ItemWrite["kind"]): DynamoDbError {
  return validation(
    kind === "update"
      ? "Item size to update has exceeded the maximum allowed size"
      : "Item size has exceeded the maximum allowed size",
  );
}
