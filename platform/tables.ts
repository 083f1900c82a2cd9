/** A DynamoDB table that `infra/` deploys and `local/` creates. See docs/access-patterns.md. */
export interface TableDefinition {
  readonly name: TableName;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
  readonly indexes: readonly IndexDefinition[];
  /** The attribute with the expiry in epoch seconds. */
  readonly timeToLive?: string;
}

export interface KeyAttribute {
  readonly name: string;
  readonly type: "S" | "N";
}

export interface IndexDefinition {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
}

export type TableName = "Catalog" | "Metrics" | "Gangs" | "Features";

const pk: KeyAttribute = { name: "pk", type: "S" };
const sk: KeyAttribute = { name: "sk", type: "S" };

export const tables: readonly TableDefinition[] = [
  {
    name: "Catalog",
    partitionKey: pk,
    sortKey: sk,
    indexes: [{ name: "gsi1", partitionKey: { name: "gsi1pk", type: "S" }, sortKey: { name: "gsi1sk", type: "S" } }],
    timeToLive: "expiresAt",
  },
  { name: "Metrics", partitionKey: pk, sortKey: sk, indexes: [] },
  { name: "Gangs", partitionKey: pk, sortKey: sk, indexes: [], timeToLive: "expiresAt" },
  { name: "Features", partitionKey: pk, sortKey: sk, indexes: [], timeToLive: "expiresAt" },
];

/** Returns a table's name within an account: `<prefix>-<table>`, e.g. `ringmaster-Catalog`. */
export function tableNameIn(prefix: string, table: TableName): string {
  return `${prefix}-${table}`;
}
