import { randomUUID } from "node:crypto";
import { notImplemented, validation } from "../errors";
import { invalid } from "../value/read";
import type { Fields } from "../wire/fields";
import type { Operation } from "./context";
import { describeTable as description } from "./describe";
import {
  checkIndexes,
  type NewIndex,
  noThroughput,
  readAttributes,
  readIndex,
  readKeySchema,
  readThroughput,
  toKeySchema,
} from "./key-schema";
import { readTags } from "./tags";

export const createTable: Operation = (context, fields) => {
  const name = fields.tableName();
  const attributes = readAttributes(fields) ?? fields.missing("AttributeDefinitions", []);
  const elements = readKeySchema(fields);
  const billing = fields.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]) ?? "PROVISIONED";
  const throughput = readThroughput(fields);
  const deletionProtected = fields.boolean("DeletionProtectionEnabled") ?? false;
  const tags = readTags(fields);
  refuseUnimplementedSettings(fields);
  fields.check();
  checkBilling(billing, throughput !== undefined);
  const key = toKeySchema(elements, attributes);
  const indexes = [
    ...readIndexes(fields, "LocalSecondaryIndexes", "local"),
    ...readIndexes(fields, "GlobalSecondaryIndexes", "global"),
  ];
  checkIndexes(indexes, key);
  checkAllUsed(
    attributes.map((attribute) => attribute.AttributeName),
    [key, ...indexes.map((index) => index.key)].flatMap(({ hash, range }) =>
      range ? [hash.name, range.name] : [hash.name],
    ),
  );
  return context.exclusively(() =>
    context.store.write((draft) => {
      const table = context.catalog.create(draft, {
        name,
        uuid: randomUUID(),
        createdAt: context.clock.now(),
        attributes,
        key,
        indexes: indexes.map((index, id) => ({ ...index, id, status: "ACTIVE" })),
        nextIndexId: indexes.length,
        billing,
        throughput: throughput ?? noThroughput,
        deletionProtected,
        tags,
      });
      return { TableDescription: description(context, table) };
    }),
  );
};

function readIndexes(fields: Fields, parameter: string, scope: NewIndex["scope"]): NewIndex[] {
  const given = fields.structures(parameter);
  if (given?.length === 0) throw invalid(`List of ${parameter} is empty`);
  const attributes = readAttributes(fields) ?? [];
  return (given ?? []).map((index) => readIndex(index, scope, attributes));
}

const unimplementedSettings = [
  "GlobalTableWitnessUpdates",
  "MultiRegionConsistency",
  "OnDemandThroughput",
  "ReplicaUpdates",
  "ResourcePolicy",
  "WarmThroughput",
] as const;

/** Refuses settings that are not implemented. Settings without a visible effect here are accepted. */
export function refuseUnimplementedSettings(fields: Fields): void {
  if (fields.structure("StreamSpecification")?.boolean("StreamEnabled")) {
    throw notImplemented("StreamSpecification", "there are no DynamoDB Streams; leave the parameter out");
  }
  if (fields.structure("SSESpecification")?.boolean("Enabled")) {
    throw notImplemented("SSESpecification", "there are no customer-managed keys; leave the parameter out");
  }
  const tableClass = fields.string("TableClass");
  if (tableClass !== undefined && tableClass !== "STANDARD") {
    throw notImplemented(`TableClass ${tableClass}`, "all tables are of class STANDARD");
  }
  fields.refuse("leave the parameter out", ...unimplementedSettings);
}

export function checkBilling(billing: string, provisioned: boolean): void {
  if (billing === "PAY_PER_REQUEST" && provisioned) {
    throw invalid(
      "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST",
    );
  }
  if (billing === "PROVISIONED" && !provisioned) {
    throw invalid("ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED");
  }
}

function checkAllUsed(defined: readonly string[], used: readonly string[]): void {
  if (defined.every((name) => used.includes(name))) return;
  throw invalid(
    `Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions`,
  );
}

export const describeTable: Operation = async (context, fields) => {
  const name = fields.tableName();
  fields.check();
  return { Table: description(context, context.catalog.describe(name)) };
};

export const listTables: Operation = async ({ catalog }, fields) => {
  const limit = fields.integer("Limit", 1, 100) ?? 100;
  const start = fields.resourceName("ExclusiveStartTableName");
  fields.check();
  const names = catalog.names().filter((name) => start === undefined || name > start);
  const page = names.slice(0, limit);
  return { TableNames: page, LastEvaluatedTableName: names.length > limit ? page.at(-1) : undefined };
};

export const deleteTable: Operation = (context, fields) => {
  const name = fields.tableName();
  fields.check();
  return context.exclusively(async () => {
    const answer = await context.store.write((draft) => {
      const table = context.catalog.describe(name);
      if (table.deletionProtected) {
        throw validation(
          "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.",
        );
      }
      context.catalog.remove(draft, table);
      context.maintenance.scheduleRemoval(draft, table);
      return { TableDescription: description(context, table, "DELETING") };
    });
    await context.maintenance.removeScheduled();
    return answer;
  });
};
