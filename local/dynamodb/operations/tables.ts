import { notImplemented, validation } from "../errors";
import type { KeyAttribute, KeySchema } from "../expression/key-condition";
import { keyNames, toDefinition } from "../store/table";
import type { KeyType } from "../value/attribute-value";
import { invalid } from "../value/read";
import type { Fields } from "../wire/fields";
import type { Operation } from "./context";

const maxIndexes = 20;

const unimplemented = [
  "DeletionProtectionEnabled",
  "LocalSecondaryIndexes",
  "OnDemandThroughput",
  "ProvisionedThroughput",
  "ResourcePolicy",
  "SSESpecification",
  "StreamSpecification",
  "TableClass",
  "Tags",
  "WarmThroughput",
];

export const createTable: Operation = (context, fields) => {
  const name = fields.tableName();
  const attributes = readAttributes(fields);
  const elements = readKeySchema(fields);
  const billing = fields.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]);
  fields.refuse("leave the parameter out", ...unimplemented);
  fields.check();
  if (billing !== "PAY_PER_REQUEST") throw notImplemented("Provisioned capacity", "use BillingMode PAY_PER_REQUEST");
  const key = toKeySchema(elements, attributes);
  const indexes = readIndexes(fields, attributes);
  const used = new Set([key, ...indexes.map((index) => index.key)].flatMap(keyNames));
  if (!attributes.every((attribute) => used.has(attribute.name))) {
    throw invalid(
      "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions",
    );
  }
  return context.store.write((draft) => {
    context.catalog.create(draft, {
      name,
      key,
      indexes: indexes.map((index, id) => ({ ...index, id, status: "ACTIVE" as const })),
    });
    return { TableDescription: { TableName: name, TableStatus: "ACTIVE" } };
  });
};

function readAttributes(fields: Fields): readonly KeyAttribute[] {
  const attributes = fields.structures("AttributeDefinitions") ?? fields.missing("AttributeDefinitions", []);
  return attributes.map((attribute) => ({
    name: attribute.requiredString("AttributeName"),
    type: attribute.requiredChoice<KeyType>("AttributeType", ["B", "N", "S"]),
  }));
}

interface KeyElement {
  readonly name: string;
  readonly role: "HASH" | "RANGE";
}

function readKeySchema(fields: Fields): readonly KeyElement[] {
  const elements = fields.structures("KeySchema") ?? fields.missing("KeySchema", []);
  if (fields.has("KeySchema") && (elements.length < 1 || elements.length > 2)) {
    fields.breaks("KeySchema", `[${elements.length} elements]`, "have length between 1 and 2");
  }
  return elements.map((element) => ({
    name: element.requiredString("AttributeName"),
    role: element.requiredChoice("KeyType", ["HASH", "RANGE"]),
  }));
}

function toKeySchema(elements: readonly KeyElement[], attributes: readonly KeyAttribute[]): KeySchema {
  const [first, second] = elements;
  const typed = elements.flatMap(({ name }) => attributes.find((one) => one.name === name) ?? []);
  const [hash, range] = typed;
  if (typed.length < elements.length || !hash) {
    throw invalid(
      `Some index key attributes are not defined in AttributeDefinitions. Keys: [${elements.map(({ name }) => name).join(", ")}], AttributeDefinitions: [${attributes.map(({ name }) => name).join(", ")}]`,
    );
  }
  if (hash.name === range?.name) {
    throw validation("Both the Hash Key and the Range Key element in the KeySchema have the same name");
  }
  if (first?.role !== "HASH") {
    throw validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  }
  if (second && second.role !== "RANGE") {
    throw validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  return range ? { hash, range } : { hash };
}

function readIndexes(fields: Fields, attributes: readonly KeyAttribute[]) {
  const structures = fields.structures("GlobalSecondaryIndexes");
  if (structures?.length === 0) throw invalid("List of GlobalSecondaryIndexes is empty");
  const indexes = (structures ?? []).map((index) => {
    index.refuse("leave the parameter out", "OnDemandThroughput", "ProvisionedThroughput", "WarmThroughput");
    const name = index.resourceName("IndexName") ?? index.missing("IndexName", "");
    const elements = readKeySchema(index);
    const projection = index.structure("Projection");
    if (!projection) index.missing("Projection", undefined);
    const type = projection?.choice("ProjectionType", ["ALL", "INCLUDE", "KEYS_ONLY"]);
    index.check();
    if (type !== "ALL") throw notImplemented(`ProjectionType ${type}`, "indexes project ALL attributes");
    return { name, key: toKeySchema(elements, attributes) };
  });
  if (indexes.length > maxIndexes) throw invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20");
  const twice = indexes.find(({ name }, i) => indexes.findIndex((one) => one.name === name) < i);
  if (twice) throw invalid(`Duplicate index name: ${twice.name}`);
  return indexes;
}

export const listTables: Operation = async ({ catalog }, fields) => {
  const limit = fields.integer("Limit", 1, 100) ?? 100;
  const start = fields.resourceName("ExclusiveStartTableName");
  fields.check();
  const names = catalog.names().filter((name) => start === undefined || name > start);
  const page = names.slice(0, limit);
  return { TableNames: page, LastEvaluatedTableName: names.length > limit ? page.at(-1) : undefined };
};

export const updateTimeToLive: Operation = async (context, fields) => {
  const name = fields.tableName();
  const specification = fields.structure("TimeToLiveSpecification");
  if (!specification) fields.missing("TimeToLiveSpecification", undefined);
  const enabled = specification?.boolean("Enabled") ?? specification?.missing("Enabled", false) ?? false;
  const attribute = specification?.requiredString("AttributeName") ?? "";
  if (specification && (attribute.length < 1 || attribute.length > 255)) {
    specification.breaks("AttributeName", attribute, "have length between 1 and 255");
  }
  fields.check();
  if (!enabled) throw notImplemented("Enabled false", "time to live cannot be disabled");
  await context.store.write((draft) => {
    const table = context.catalog.describe(name);
    const current = table.timeToLive?.attribute;
    if (current === attribute) throw validation("TimeToLive is already enabled");
    if (current !== undefined) throw validation("TimeToLive is active on a different AttributeName");
    context.catalog.replace(draft, { ...toDefinition(table), timeToLive: { attribute, ready: false } });
  });
  await context.maintenance.indexExpiry(name);
  return { TimeToLiveSpecification: { Enabled: true, AttributeName: attribute } };
};
