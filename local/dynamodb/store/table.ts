import type { KeySchema } from "../expression/key-condition";

export interface Index {
  readonly id: number;
  readonly name: string;
  readonly key: KeySchema;
  readonly status: "CREATING" | "ACTIVE";
}

export interface TimeToLive {
  readonly attribute: string;
  readonly ready: boolean;
}

export interface TableDefinition {
  readonly id: number;
  readonly name: string;
  readonly key: KeySchema;
  readonly indexes: readonly Index[];
  /** Undefined while TTL is disabled. */
  readonly timeToLive?: TimeToLive | undefined;
}

export interface Table extends TableDefinition {
  readonly keyRoles: ReadonlyMap<string, "Key" | "IndexKey">;
}

export function toTable(definition: TableDefinition): Table {
  const keyRoles = new Map<string, "Key" | "IndexKey">();
  for (const index of definition.indexes) for (const name of keyNames(index.key)) keyRoles.set(name, "IndexKey");
  for (const name of keyNames(definition.key)) keyRoles.set(name, "Key");
  return { ...definition, keyRoles };
}

export function toDefinition({ keyRoles: _roles, ...definition }: Table): TableDefinition {
  return definition;
}

export function keyNames(key: KeySchema): string[] {
  return key.range ? [key.hash.name, key.range.name] : [key.hash.name];
}
