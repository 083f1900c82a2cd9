import { batchGetItem, batchWriteItem } from "./batch";
import type { Operation } from "./context";
import { getItem } from "./get-item";
import { deleteItem, putItem, updateItem } from "./item-write";
import { query } from "./query";
import { scan } from "./scan";
import { createTable, deleteTable, describeTable, listTables } from "./tables";
import { listTagsOfResource, tagResource, untagResource } from "./tags";
import { describeTimeToLive, updateTimeToLive } from "./time-to-live";
import { transactGetItems, transactWriteItems } from "./transact";
import { updateTable } from "./update-table";

/** The operations by the name in X-Amz-Target. All others get an UnknownOperationException. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    BatchGetItem: batchGetItem,
    BatchWriteItem: batchWriteItem,
    CreateTable: createTable,
    DeleteItem: deleteItem,
    DeleteTable: deleteTable,
    DescribeTable: describeTable,
    DescribeTimeToLive: describeTimeToLive,
    GetItem: getItem,
    ListTables: listTables,
    ListTagsOfResource: listTagsOfResource,
    PutItem: putItem,
    Query: query,
    Scan: scan,
    TagResource: tagResource,
    TransactGetItems: transactGetItems,
    TransactWriteItems: transactWriteItems,
    UntagResource: untagResource,
    UpdateItem: updateItem,
    UpdateTable: updateTable,
    UpdateTimeToLive: updateTimeToLive,
  }),
);
