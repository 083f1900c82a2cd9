import { validation } from "../errors";
import { checkKey, itemKey } from "../store/item-keys";
import { storedBytes } from "../store/stored-item";
import { readExpressions } from "../wire/expressions";
import { Fields } from "../wire/fields";
import type { Operation } from "./context";
import { checkProjection, shownJson } from "./items";
import { apply, type ItemWrite, prepare } from "./write";

const maxWrites = 25;
const maxGets = 100;
/** The maximum size of an answer. Keys that do not fit are returned as UnprocessedKeys. */
const maxAnswerBytes = 16 * 1024 * 1024;

export const batchWriteItem: Operation = (context, fields) => {
  const writes = readWrites(fields);
  return context.store.write((draft) => {
    const prepared = writes.map((write) => prepare(draft, context.catalog.get(write.tableName), write));
    requireDistinct(prepared.map(({ found }) => found.key));
    for (const one of prepared) apply(draft, one);
    return { UnprocessedItems: {} };
  });
};

function readWrites(fields: Fields): ItemWrite[] {
  const tables = fields.map("RequestItems") ?? fields.missing("RequestItems", []);
  if (fields.has("RequestItems") && tables.length === 0) {
    fields.breaks("RequestItems", {}, "have length greater than or equal to 1");
  }
  fields.check();
  const writes = tables.flatMap(([name]) => {
    const requests = Fields.of(fields.any("RequestItems")).structures(name) ?? [];
    if (requests.length === 0) {
      throw validation(`The batch write request list for a table cannot be null or empty: ${name}`);
    }
    return requests.map((request) => readWrite(tableNameOf(name), request));
  });
  fields.check();
  if (writes.length > maxWrites) throw validation("Too many items requested for the BatchWriteItem call");
  return writes;
}

function readWrite(tableName: string, request: Fields): ItemWrite {
  const put = request.structure("PutRequest");
  const del = request.structure("DeleteRequest");
  if ((put === undefined) === (del === undefined)) {
    throw validation(
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    );
  }
  const write: ItemWrite = put
    ? { tableName, kind: "put", item: put.requiredItem("Item") }
    : { tableName, kind: "delete", key: del!.requiredItem("Key") };
  request.check();
  return write;
}

function tableNameOf(key: string): string {
  const fields = Fields.of({ TableName: key });
  const name = fields.tableName();
  fields.check();
  return name;
}

function requireDistinct(keys: readonly Buffer[]): void {
  if (new Set(keys.map((key) => key.toString("latin1"))).size < keys.length) {
    throw validation("Provided list of item keys contains duplicates");
  }
}

export const batchGetItem: Operation = async ({ store, catalog }, fields) => {
  const tables = fields.map("RequestItems") ?? fields.missing("RequestItems", []);
  if (fields.has("RequestItems") && tables.length === 0) {
    fields.breaks("RequestItems", {}, "have length greater than or equal to 1");
  }
  fields.check();
  const requests = tables.map(([name, raw]) => readGets(name, Fields.of(raw)));
  if (requests.reduce((sum, { keys }) => sum + keys.length, 0) > maxGets) {
    throw validation("Too many items requested for the BatchGetItem call");
  }
  let bytes = 0;
  const responses: string[] = [];
  const unprocessed: Record<string, object> = {};
  for (const request of requests) {
    const table = catalog.get(request.tableName);
    if (request.projection) checkProjection(table, request.projection);
    for (const key of request.keys) checkKey(table, key);
    const keys = request.keys.map((key) => itemKey(table, key));
    requireDistinct(keys);
    const items: string[] = [];
    for (const [i, key] of keys.entries()) {
      if (bytes > maxAnswerBytes) {
        unprocessed[request.name] = { ...request.raw, Keys: request.keys.slice(i) };
        break;
      }
      const stored = store.get(key);
      if (stored === undefined) continue;
      bytes += storedBytes(stored);
      items.push(shownJson(stored, request.projection));
    }
    responses.push(`${JSON.stringify(request.name)}:[${items.join(",")}]`);
  }
  return `{"Responses":{${responses.join(",")}},"UnprocessedKeys":${JSON.stringify(unprocessed)}}`;
};

function readGets(name: string, request: Fields) {
  const list = request.list("Keys") ?? request.missing("Keys", []);
  request.boolean("ConsistentRead");
  request.check();
  if (list.length === 0) {
    throw validation(`The list of keys in RequestItems for BatchGetItem is required: ${name} has empty list`);
  }
  const { projection } = readExpressions(request, ["ProjectionExpression"]);
  const keys = list.map((key) => Fields.of({ Key: key }).requiredItem("Key"));
  return { name, tableName: tableNameOf(name), raw: request.asObject(), keys, projection };
}
