import { digestOf } from "../digest";
import type { ColumnSchema, DatasetDraft } from "./shapes";

/** Returns the SHA-256 over column names and types, in the columns' order. A tensor's shape is part of its type. */
export function schemaHashOf(columns: readonly ColumnSchema[]): string {
  return digestOf(columns.map(({ name, type, shape }) => [name, typeText({ type, shape })]));
}

/**
 * Returns the digest that identifies a version: schema, rows (by their shards' content) and split. Two pushes with the
 * same digest are the same version. The split's index files are included although they follow from seed, fractions and
 * rows: a different split algorithm changes the data of a run.
 */
export function versionDigestOf(draft: Pick<DatasetDraft, "schema" | "shards" | "split">): string {
  return digestOf({ schema: draft.schema, shards: draft.shards, split: draft.split });
}

/** Returns the type's text, e.g. `tensor[28,28,1]`. */
export function typeText({ type, shape }: Pick<ColumnSchema, "type" | "shape">): string {
  return shape === undefined ? type : `${type}[${shape.join(",")}]`;
}

/** Describes how the columns changed, one line for each change; empty if names, types and order are the same. */
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
