import { digestOf } from "../digest";
import type { ColumnSchema } from "./manifest";
import type { DatasetDraft } from "./shapes";

export type { DatasetDraft } from "./shapes";

/** SHA-256 over column names and types (a tensor's shape is part of its type), in the columns' order. */
export function schemaHashOf(columns: readonly ColumnSchema[]): string {
  return digestOf(columns.map(({ name, type, shape }) => [name, typeText({ type, shape })]));
}

/**
 * What makes two pushes the same version: the schema, the rows (by their shards' content) and the split. The split's index files follow
 * from seed, fractions and rows, and are in it all the same: a changed way of splitting is a change of the data that a run sees.
 */
export function versionDigestOf(draft: Pick<DatasetDraft, "schema" | "shards" | "split">): string {
  return digestOf({ schema: draft.schema, shards: draft.shards, split: draft.split });
}

/** `tensor[28,28,1]`. */
export function typeText({ type, shape }: Pick<ColumnSchema, "type" | "shape">): string {
  return shape === undefined ? type : `${type}[${shape.join(",")}]`;
}

/** How the columns changed, one line a change; empty where names, types and order are the same. */
export function schemaChanges(before: readonly ColumnSchema[], after: readonly ColumnSchema[]): readonly string[] {
  const changes: string[] = [];
  const old = new Map(before.map((column) => [column.name, column]));
  const fresh = new Map(after.map((column) => [column.name, column]));
  for (const column of before) {
    if (!fresh.has(column.name)) changes.push(`column ${column.name} (${typeText(column)}) is missing`);
  }
  for (const column of after) {
    const earlier = old.get(column.name);
    if (earlier === undefined) changes.push(`column ${column.name} (${typeText(column)}) is new`);
    else if (typeText(earlier) !== typeText(column)) {
      changes.push(`column ${column.name} was ${typeText(earlier)} and is ${typeText(column)}`);
    }
  }
  const order = (columns: readonly ColumnSchema[]): string => columns.map(({ name }) => name).join(", ");
  if (changes.length === 0 && order(before) !== order(after)) {
    changes.push(`the columns' order was ${order(before)} and is ${order(after)}`);
  }
  return changes;
}
