import { validation } from "../errors";
import type { KeyAttribute, KeySchema } from "../expression/key-condition";
import { type AttributeValue, attribute, emptyItem, type Item, typeOf } from "../value/attribute-value";
import { bucketOf, compose, encodeScalar, kind } from "./key-codec";
import type { Index, Table } from "./table";
import { keyNames } from "./table";

const maxHashBytes = 2048;
const maxRangeBytes = 1024;

export function itemKey(table: Table, item: Item): Buffer {
  const hash = encodeScalar(item[table.key.hash.name]!);
  const range = table.key.range ? [encodeScalar(item[table.key.range.name]!)] : [];
  return compose(kind.item, [table.id], bucketOf(hash), hash, ...range);
}

/**
 * Returns the storage key of the item's index entry, or undefined if the item lacks one of the index's keys (sparse
 * index). An item older than the index may have the attribute empty or with another type. Such an item has no entry
 * either.
 */
export function indexKey(table: Table, index: Index, item: Item): Buffer | undefined {
  const values: AttributeValue[] = [];
  for (const part of keyParts(index.key)) {
    const value = attribute(item, part.name);
    if (value === undefined || typeOf(value) !== part.type || isEmpty(value)) return undefined;
    values.push(value);
  }
  const [hash, range] = values.map(encodeScalar);
  const primary = keyNames(table.key).map((name) => encodeScalar(item[name]!));
  return compose(kind.index, [table.id, index.id], bucketOf(hash!), hash!, ...(range ? [range] : []), ...primary);
}

export function keyOf(table: Table, item: Item, index?: Index): Item {
  const key = emptyItem();
  for (const name of keyNames(table.key)) key[name] = item[name]!;
  if (index) for (const name of keyNames(index.key)) key[name] = item[name]!;
  return key;
}

export function checkKey(table: Table, key: Item): void {
  const names = keyNames(table.key);
  if (Object.keys(key).length !== names.length) throw keyMismatch();
  for (const part of keyParts(table.key)) {
    const value = attribute(key, part.name);
    if (value === undefined || typeOf(value) !== part.type) throw keyMismatch();
    checkScalar(value, part, part === table.key.hash);
  }
}

/**
 * Refuses an item with a key attribute, of the table or of an index, that is missing, empty, too large or of another
 * type.
 */
export function checkItem(table: Table, item: Item): void {
  for (const part of keyParts(table.key)) {
    const value = attribute(item, part.name);
    if (value === undefined) {
      throw validation(`One or more parameter values were invalid: Missing the key ${part.name} in the item`);
    }
    const actual = typeOf(value);
    if (actual !== part.type) {
      throw validation(
        `One or more parameter values were invalid: Type mismatch for key ${part.name} expected: ${part.type} actual: ${actual}`,
      );
    }
    checkScalar(value, part, part === table.key.hash);
  }
  checkIndexKeys(table, item);
}

export function checkIndexKeys(table: Table, item: Item): void {
  for (const index of table.indexes) {
    for (const part of keyParts(index.key)) {
      const value = attribute(item, part.name);
      if (value === undefined) continue;
      const actual = typeOf(value);
      if (actual !== part.type) {
        throw validation(
          `One or more parameter values were invalid: Type mismatch for Index Key ${part.name} Expected: ${part.type} Actual: ${actual} IndexName: ${index.name}`,
        );
      }
      if (isEmpty(value)) {
        throw validation(
          `One or more parameter values are not valid. A value specified for a secondary index key is not supported. ${emptyKey(part)}. IndexName: ${index.name}, IndexKey: ${part.name}`,
        );
      }
      checkSize(value, part === index.key.hash);
    }
  }
}

function keyParts(key: KeySchema): readonly KeyAttribute[] {
  return key.range ? [key.hash, key.range] : [key.hash];
}

function checkScalar(value: AttributeValue, part: KeyAttribute, isHash: boolean): void {
  if (isEmpty(value)) {
    throw validation(`One or more parameter values are not valid. ${emptyKey(part)}. Key: ${part.name}`);
  }
  checkSize(value, isHash);
}

function emptyKey(part: KeyAttribute): string {
  const what = part.type === "S" ? "string" : "binary";
  return `The AttributeValue for a key attribute cannot contain an empty ${what} value`;
}

function isEmpty(value: AttributeValue): boolean {
  return ("S" in value && value.S === "") || ("B" in value && value.B === "");
}

function checkSize(value: AttributeValue, isHash: boolean): void {
  const bytes = "S" in value ? Buffer.byteLength(value.S) : "B" in value ? Buffer.byteLength(value.B, "base64") : 0;
  if (isHash && bytes > maxHashBytes) {
    throw validation(
      `One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of${maxHashBytes} bytes`,
    );
  }
  if (!isHash && bytes > maxRangeBytes) {
    throw validation(
      `One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of ${maxRangeBytes} bytes`,
    );
  }
}

function keyMismatch(): Error {
  return validation("The provided key element does not match the schema");
}
