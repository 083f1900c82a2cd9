import type { KeySchema } from "../expression/key-condition";
import type { KeyType } from "../value/attribute-value";
import { compose, kind } from "./key-codec";

export type ProjectionType = "ALL" | "KEYS_ONLY" | "INCLUDE";

export interface IndexDefinition {
  /** The index's id. It is never reused within the table, so a recreated index does not meet the old entries. */
  readonly id: number;
  readonly name: string;
  readonly scope: "global" | "local";
  readonly key: KeySchema;
  readonly projection: ProjectionType;
  /** For INCLUDE: the projected attributes other than the keys. */
  readonly include: readonly string[];
  /** The status. All writes maintain an index that is being created. Existing items are added in the background. */
  readonly status: "CREATING" | "ACTIVE";
  readonly throughput: Throughput;
}

export interface Throughput {
  readonly read: number;
  readonly write: number;
}

export interface TimeToLive {
  readonly attribute: string;
  /** False until the expiries of the existing items are indexed. */
  readonly ready: boolean;
}

/** The stored JSON of a table. */
export interface TableDefinition {
  /** The table's id, which is never reused. */
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  /** The creation time in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly attributes: readonly { readonly AttributeName: string; readonly AttributeType: KeyType }[];
  readonly key: KeySchema;
  readonly indexes: readonly IndexDefinition[];
  readonly nextIndexId: number;
  readonly billing: "PAY_PER_REQUEST" | "PROVISIONED";
  readonly throughput: Throughput;
  readonly deletionProtected: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** Undefined while TTL is disabled. */
  readonly timeToLive?: TimeToLive | undefined;
}

/** An index with the values that each write needs. */
export interface Index extends IndexDefinition {
  /** The names of the attributes in entries. Undefined means all. */
  readonly kept: ReadonlySet<string> | undefined;
}

export interface Table extends Omit<TableDefinition, "indexes"> {
  readonly indexes: readonly Index[];
  /** The names of the key attributes, first the table's and then the indexes', with their role in messages. */
  readonly keyRoles: ReadonlyMap<string, "Key" | "IndexKey">;
  readonly countKey: Buffer;
}

export function toTable(definition: TableDefinition): Table {
  const tableKey = keyNames(definition.key);
  const keyRoles = new Map<string, "Key" | "IndexKey">();
  for (const index of definition.indexes) for (const name of keyNames(index.key)) keyRoles.set(name, "IndexKey");
  for (const name of tableKey) keyRoles.set(name, "Key");
  const indexes = definition.indexes.map((index) => ({
    ...index,
    kept: index.projection === "ALL" ? undefined : new Set([...tableKey, ...keyNames(index.key), ...index.include]),
  }));
  return { ...definition, indexes, keyRoles, countKey: compose(kind.count, [definition.id]) };
}

export function toDefinition(table: Table): TableDefinition {
  const { keyRoles: _roles, countKey: _key, indexes, ...rest } = table;
  return { ...rest, indexes: indexes.map(({ kept: _kept, ...index }) => index) };
}

export function keyNames(key: KeySchema): string[] {
  return key.range ? [key.hash.name, key.range.name] : [key.hash.name];
}
