import type { AttributeValue, BatchWriteItemCommandInput, DynamoDB } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { createTable, hashTable, type Item, N, put, rangeTable, refused, S } from "../harness";

export function batchesContract(client: () => DynamoDB): void {
  describe("batches", () => {
    let table: string;
    beforeEach(async () => {
      table = await createTable(client(), rangeTable("N"));
    });
    const key = (sk: number): Item => ({ pk: S("p"), sk: N(sk) });
    const write = (requests: BatchWriteItemCommandInput["RequestItems"]) =>
      client().batchWriteItem({ RequestItems: requests });
    const get = (Keys: Record<string, AttributeValue>[], more: object = {}) =>
      client().batchGetItem({ RequestItems: { [table]: { Keys, ...more } } });

    it("writes and deletes, over several tables", async () => {
      const other = await createTable(client(), hashTable);
      await put(client(), table, key(1));
      const result = await write({
        [table]: [{ DeleteRequest: { Key: key(1) } }, { PutRequest: { Item: { ...key(2), x: N(1) } } }],
        [other]: [{ PutRequest: { Item: { pk: S("o") } } }],
      });
      expect(result.UnprocessedItems).toEqual({});
      const found = await client().batchGetItem({
        RequestItems: { [table]: { Keys: [key(1), key(2)] }, [other]: { Keys: [{ pk: S("o") }] } },
      });
      expect(found.Responses).toEqual({ [table]: [{ ...key(2), x: N(1) }], [other]: [{ pk: S("o") }] });
      expect(found.UnprocessedKeys).toEqual({});
    });

    it("reads a hundred, projected", async () => {
      for (const start of [0, 25, 50, 75]) {
        const requests = Array.from({ length: 25 }, (_, i) => ({
          PutRequest: { Item: { ...key(start + i), x: N(i) } },
        }));
        await write({ [table]: requests });
      }
      const keys = Array.from({ length: 100 }, (_, i) => key(i));
      const found = await get(keys, { ProjectionExpression: "sk", ConsistentRead: true });
      const numbers = found.Responses?.[table]?.map((item) => Number(item["sk"]?.N)).sort((a, b) => a - b);
      expect(numbers).toEqual(keys.map((_, i) => i));
      await refused(get([...keys, key(100)]), "ValidationException", /Too many items|less than or equal to 100/);
    });

    it.each([
      ["26 writes", () => Array.from({ length: 26 }, (_, i) => ({ PutRequest: { Item: key(i) } }))],
      ["none", () => []],
      ["two writes of one item", () => [{ PutRequest: { Item: key(1) } }, { DeleteRequest: { Key: key(1) } }]],
      ["an item without its key", () => [{ PutRequest: { Item: key(1) } }, { PutRequest: { Item: { pk: S("p") } } }]],
      [
        "an item over 400 KB",
        () => [{ PutRequest: { Item: key(1) } }, { PutRequest: { Item: { ...key(2), x: S("x".repeat(410_000)) } } }],
      ],
    ])("refuses %s, and writes nothing", async (_case, requests) => {
      await refused(write({ [table]: requests() }), "ValidationException");
      const { Item } = await client().getItem({ TableName: table, Key: key(1) });
      expect(Item).toBeUndefined();
    });

    it("refuses to read an item twice, and refuses missing tables", async () => {
      await refused(get([key(1), key(1)]), "ValidationException", /duplicates/);
      await refused(write({ nowhere: [{ PutRequest: { Item: key(1) } }] }), "ResourceNotFoundException");
      const read = client().batchGetItem({ RequestItems: { nowhere: { Keys: [key(1)] } } });
      await refused(read, "ResourceNotFoundException");
    });
  });

  describe("clients", () => {
    it("serves the document client", async () => {
      const documents = DynamoDBDocumentClient.from(client());
      const table = await createTable(client(), hashTable);
      const list = [1, "two", null, { deep: true }];
      const item = { pk: "doc", n: 1.5, list, bytes: new Uint8Array([1, 2]), set: new Set(["a"]) };
      await documents.send(new PutCommand({ TableName: table, Item: item }));
      const { Item } = await documents.send(new GetCommand({ TableName: table, Key: { pk: "doc" } }));
      expect(Item).toEqual(item);
    });
  });
}
