import { indexNotFound, validation } from "../errors";
import { type IndexDefinition, keyNames, type TableDefinition, type Throughput, toDefinition } from "../store/table";
import { invalid } from "../value/read";
import type { Fields } from "../wire/fields";
import type { Operation } from "./context";
import { describeTable } from "./describe";
import {
  type AttributeDefinition,
  checkIndexes,
  noThroughput,
  readAttributes,
  readIndex,
  readThroughput,
} from "./key-schema";
import { checkBilling, refuseUnimplementedSettings } from "./tables";

/**
 * Updates a table. Billing, throughput and deletion protection change at once. A global index and its entries are
 * created or deleted before the answer is sent.
 */
export const updateTable: Operation = (context, fields) => {
  const name = fields.tableName();
  const attributes = readAttributes(fields);
  const settings = readSettings(fields);
  refuseUnimplementedSettings(fields);
  const updates = fields.structures("GlobalSecondaryIndexUpdates") ?? [];
  fields.check();
  const nothing = Object.values(settings).every((value) => value === undefined);
  if (nothing && updates.length === 0 && !fields.has("TableClass")) {
    throw validation(
      "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
    );
  }
  if (settings.billing) checkBilling(settings.billing, settings.throughput !== undefined);
  return context.exclusively(async () => {
    await context.store.write((draft) => {
      const table = context.catalog.describe(name);
      const before = toDefinition(table);
      const after = updates.reduce(
        (definition, update) => withIndexChange(definition, update, attributes),
        withSettings(before, settings),
      );
      for (const { id } of before.indexes) {
        if (!after.indexes.some((index) => index.id === id)) context.maintenance.scheduleRemoval(draft, table, id);
      }
      context.catalog.replace(draft, { ...after, attributes: usedAttributes(after, attributes) });
    });
    await context.maintenance.removeScheduled();
    await context.maintenance.backfill(name);
    return { TableDescription: describeTable(context, context.catalog.describe(name)) };
  });
};

interface Settings {
  readonly billing: TableDefinition["billing"] | undefined;
  readonly throughput: Throughput | undefined;
  readonly deletionProtected: boolean | undefined;
}

function readSettings(fields: Fields): Settings {
  return {
    billing: fields.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]),
    throughput: readThroughput(fields),
    deletionProtected: fields.boolean("DeletionProtectionEnabled"),
  };
}

function withSettings(definition: TableDefinition, settings: Settings): TableDefinition {
  const onDemand = settings.billing === "PAY_PER_REQUEST" ? noThroughput : definition.throughput;
  return {
    ...definition,
    billing: settings.billing ?? definition.billing,
    throughput: settings.throughput ?? onDemand,
    deletionProtected: settings.deletionProtected ?? definition.deletionProtected,
  };
}

const changes = ["Create", "Update", "Delete"] as const;

/** Returns the definition after one element of GlobalSecondaryIndexUpdates. */
function withIndexChange(
  definition: TableDefinition,
  update: Fields,
  attributes: readonly AttributeDefinition[] | undefined,
): TableDefinition {
  const given = changes.filter((change) => update.has(change));
  if (given.length !== 1) {
    throw invalid(
      "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
    );
  }
  const fields = update.structure(given[0]!)!;
  if (given[0] === "Create") {
    const index = readIndex(fields, "global", attributes ?? definition.attributes);
    checkIndexes([...definition.indexes, index], definition.key);
    const created: IndexDefinition = { ...index, id: definition.nextIndexId, status: "CREATING" };
    return {
      ...definition,
      indexes: [...definition.indexes, created],
      nextIndexId: definition.nextIndexId + 1,
    };
  }
  const name = fields.requiredString("IndexName");
  const throughput = readThroughput(fields);
  fields.check();
  const index = definition.indexes.find((one) => one.name === name && one.scope === "global");
  if (!index) throw indexNotFound(name);
  const others = definition.indexes.filter((one) => one !== index);
  if (given[0] === "Delete") return { ...definition, indexes: others };
  return { ...definition, indexes: [...others, { ...index, throughput: throughput ?? index.throughput }] };
}

/** Returns the attribute definitions that the keys need, including new ones. */
function usedAttributes(
  definition: TableDefinition,
  added: readonly AttributeDefinition[] | undefined,
): readonly AttributeDefinition[] {
  const byName = new Map(definition.attributes.map((one) => [one.AttributeName, one]));
  for (const one of added ?? []) {
    const before = byName.get(one.AttributeName);
    if (before && before.AttributeType !== one.AttributeType) {
      throw invalid(`Attribute ${one.AttributeName} is defined already, with type ${before.AttributeType}`);
    }
    byName.set(one.AttributeName, one);
  }
  const used = new Set([definition.key, ...definition.indexes.map(({ key }) => key)].flatMap(keyNames));
  return [...byName.values()].filter((one) => used.has(one.AttributeName));
}
