import { account, region } from "../../account";
import type { KeySchema } from "../expression/key-condition";
import { readCounters } from "../store/store";
import type { Index, Table, Throughput } from "../store/table";
import type { Context } from "./context";

function tableArn(name: string): string {
  return `arn:aws:dynamodb:${region}:${account}:table/${name}`;
}

/** Builds a TableDescription. The item counts of tables are exact. Indexes have no item counts. */
export function describeTable({ store }: Context, table: Table, status: "ACTIVE" | "DELETING" = "ACTIVE"): object {
  const { items, bytes } = readCounters(store.get(table.countKey));
  const created = table.createdAt / 1_000;
  return {
    TableName: table.name,
    TableArn: tableArn(table.name),
    TableId: table.uuid,
    TableStatus: status,
    CreationDateTime: created,
    AttributeDefinitions: table.attributes,
    KeySchema: keySchema(table.key),
    ItemCount: items,
    TableSizeBytes: bytes,
    ProvisionedThroughput: throughput(table.throughput),
    BillingModeSummary:
      table.billing === "PAY_PER_REQUEST"
        ? { BillingMode: table.billing, LastUpdateToPayPerRequestDateTime: created }
        : undefined,
    LocalSecondaryIndexes: indexes(table, "local"),
    GlobalSecondaryIndexes: indexes(table, "global"),
    DeletionProtectionEnabled: table.deletionProtected,
  };
}

function indexes(table: Table, scope: Index["scope"]): object[] | undefined {
  const chosen = table.indexes.filter((index) => index.scope === scope);
  if (chosen.length === 0) return undefined;
  return chosen.map((index) => ({
    IndexName: index.name,
    IndexArn: `${tableArn(table.name)}/index/${index.name}`,
    KeySchema: keySchema(index.key),
    Projection: {
      ProjectionType: index.projection,
      NonKeyAttributes: index.include.length > 0 ? index.include : undefined,
    },
    IndexSizeBytes: 0,
    ItemCount: 0,
    ...(scope === "global"
      ? {
          IndexStatus: index.status,
          Backfilling: index.status === "CREATING" ? true : undefined,
          ProvisionedThroughput: throughput(index.throughput),
        }
      : {}),
  }));
}

function keySchema(key: KeySchema): object[] {
  const hash = { AttributeName: key.hash.name, KeyType: "HASH" };
  return key.range ? [hash, { AttributeName: key.range.name, KeyType: "RANGE" }] : [hash];
}

function throughput({ read, write }: Throughput): object {
  return { NumberOfDecreasesToday: 0, ReadCapacityUnits: read, WriteCapacityUnits: write };
}
