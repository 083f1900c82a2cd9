import { batchGetItem, batchWriteItem } from "./batch";
import type { Operation } from "./context";
import { deleteItem, getItem, putItem, updateItem } from "./items";
import { query, scan } from "./query";
import { createTable, listTables, updateTimeToLive } from "./tables";
import { transactWriteItems } from "./transact";

export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    BatchGetItem: batchGetItem,
    BatchWriteItem: batchWriteItem,
    CreateTable: createTable,
    DeleteItem: deleteItem,
    GetItem: getItem,
    ListTables: listTables,
    PutItem: putItem,
    Query: query,
    Scan: scan,
    TransactWriteItems: transactWriteItems,
    UpdateItem: updateItem,
    UpdateTimeToLive: updateTimeToLive,
  }),
);
