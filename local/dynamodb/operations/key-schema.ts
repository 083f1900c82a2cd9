import { validation } from "../errors";
import type { KeyAttribute, KeySchema } from "../expression/key-condition";
import type { IndexDefinition, ProjectionType, Throughput } from "../store/table";
import type { KeyType } from "../value/attribute-value";
import { invalid } from "../value/read";
import type { Fields } from "../wire/fields";

export interface AttributeDefinition {
  readonly AttributeName: string;
  readonly AttributeType: KeyType;
}

export type NewIndex = Omit<IndexDefinition, "id" | "status">;

const maxProjected = 100;

export function readAttributes(fields: Fields): readonly AttributeDefinition[] | undefined {
  return fields.structures("AttributeDefinitions")?.map((attribute) => ({
    AttributeName: attribute.requiredString("AttributeName"),
    AttributeType: attribute.requiredChoice<KeyType>("AttributeType", ["B", "N", "S"]),
  }));
}

interface KeyElement {
  readonly name: string;
  readonly role: "HASH" | "RANGE";
}

export function readKeySchema(fields: Fields): readonly KeyElement[] {
  const elements = fields.structures("KeySchema") ?? fields.missing("KeySchema", []);
  if (fields.has("KeySchema") && (elements.length < 1 || elements.length > 2)) {
    fields.breaks("KeySchema", `[${elements.length} elements]`, "have length between 1 and 2");
  }
  return elements.map((element) => ({
    name: element.requiredString("AttributeName"),
    role: element.requiredChoice("KeyType", ["HASH", "RANGE"]),
  }));
}

export function toKeySchema(elements: readonly KeyElement[], attributes: readonly AttributeDefinition[]): KeySchema {
  const [first, second] = elements;
  const undefinedNames = elements.filter(({ name }) => !attributes.some((one) => one.AttributeName === name));
  if (undefinedNames.length > 0 || !first) {
    throw invalid(
      `Some index key attributes are not defined in AttributeDefinitions. Keys: [${elements.map(({ name }) => name).join(", ")}], AttributeDefinitions: [${attributes.map((one) => one.AttributeName).join(", ")}]`,
    );
  }
  if (first.name === second?.name) {
    throw validation("Both the Hash Key and the Range Key element in the KeySchema have the same name");
  }
  if (first.role !== "HASH") {
    throw validation("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  }
  if (second && second.role !== "RANGE") {
    throw validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  const typed = ({ name }: KeyElement): KeyAttribute => ({
    name,
    type: attributes.find((one) => one.AttributeName === name)!.AttributeType,
  });
  return second ? { hash: typed(first), range: typed(second) } : { hash: typed(first) };
}

/** Reads one element of GlobalSecondaryIndexes or LocalSecondaryIndexes, or the creation of an index. */
export function readIndex(
  fields: Fields,
  scope: IndexDefinition["scope"],
  attributes: readonly AttributeDefinition[],
): NewIndex {
  fields.refuse("leave the parameter out", "OnDemandThroughput", "WarmThroughput");
  const name = fields.resourceName("IndexName") ?? fields.missing("IndexName", "");
  const elements = readKeySchema(fields);
  const projection = fields.structure("Projection");
  if (!projection) fields.missing("Projection", undefined);
  const type = projection?.choice<ProjectionType>("ProjectionType", ["ALL", "INCLUDE", "KEYS_ONLY"]);
  const include = projection?.strings("NonKeyAttributes") ?? [];
  const throughput = readThroughput(fields);
  fields.check();
  if (type === undefined) throw invalid("Unknown ProjectionType: null");
  if (type === "INCLUDE" && include.length === 0) {
    throw invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
  }
  if (type !== "INCLUDE" && include.length > 0) {
    throw invalid(`ProjectionType is ${type}, but NonKeyAttributes is specified`);
  }
  const key = toKeySchema(elements, attributes);
  return { name, scope, key, projection: type, include, throughput: throughput ?? noThroughput };
}

export function checkIndexes(indexes: readonly NewIndex[], table: KeySchema): void {
  const names = new Set<string>();
  for (const { name, scope, key } of indexes) {
    if (names.has(name)) throw invalid(`Duplicate index name: ${name}`);
    names.add(name);
    if (scope === "global") continue;
    if (!table.range) {
      throw invalid(
        "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex",
      );
    }
    if (!key.range) throw invalid(`Index KeySchema does not have a range key for index: ${name}`);
    if (key.hash.name !== table.hash.name) {
      throw invalid(
        `Index KeySchema does not have the same leading hash key as table KeySchema for index: ${name}. index hash key: ${key.hash.name}, table hash key: ${table.hash.name}`,
      );
    }
  }
  const count = (scope: string) => indexes.filter((index) => index.scope === scope).length;
  if (count("local") > 5) throw invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5");
  if (count("global") > 20) throw invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20");
  const projected = indexes.reduce((sum, { include }) => sum + include.length, 0);
  if (projected > maxProjected) {
    throw invalid(`Number of NonKeyAttributes across all indexes exceeds the limit of ${maxProjected}`);
  }
}

export const noThroughput: Throughput = { read: 0, write: 0 };

export function readThroughput(fields: Fields): Throughput | undefined {
  const given = fields.structure("ProvisionedThroughput");
  if (!given) return undefined;
  const read = given.integer("ReadCapacityUnits", 1, 1e12) ?? given.missing("ReadCapacityUnits", 1);
  const write = given.integer("WriteCapacityUnits", 1, 1e12) ?? given.missing("WriteCapacityUnits", 1);
  return { read, write };
}
