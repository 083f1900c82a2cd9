import {
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { createTable, type Item, N, put, refused, S, type TableShape } from "../harness";

const shape: TableShape = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "N" },
    { AttributeName: "g", AttributeType: "S" },
    { AttributeName: "score", AttributeType: "N" },
    { AttributeName: "name", AttributeType: "S" },
  ],
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: "all",
      KeySchema: [
        { AttributeName: "g", KeyType: "HASH" },
        { AttributeName: "score", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "ALL" },
    },
    {
      IndexName: "keys",
      KeySchema: [{ AttributeName: "g", KeyType: "HASH" }],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
    {
      IndexName: "some",
      KeySchema: [{ AttributeName: "name", KeyType: "HASH" }],
      Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["x"] },
    },
  ],
  LocalSecondaryIndexes: [
    {
      IndexName: "local",
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "score", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
  ],
};

export function indexesContract(client: () => DynamoDBClient): void {
  describe("indexes", () => {
    let table: string;
    beforeEach(async () => {
      table = await createTable(client(), shape);
    });
    const query = (index: string, condition: string, values: Item, more: Partial<QueryCommandInput> = {}) =>
      client().send(
        new QueryCommand({
          TableName: table,
          IndexName: index,
          KeyConditionExpression: condition,
          ExpressionAttributeValues: values,
          ...more,
        }),
      );
    const item = (sk: number, more: Item = {}): Item => ({ pk: S("p"), sk: N(sk), ...more });

    it("orders by the index's sort key and keeps entries of equal keys apart", async () => {
      const scores = [5, -1, 5, 0.5, 5];
      await put(client(), table, ...scores.map((score, sk) => item(sk, { g: S("g"), score: N(score) })));
      const page = await query("all", "g = :g", { ":g": S("g") });
      expect(page.Items?.map((one) => one["score"]?.N)).toEqual(["-1", "0.5", "5", "5", "5"]);
      const part = await query("all", "g = :g AND score > :s", { ":g": S("g"), ":s": N("0.5") });
      expect(part.Items?.map((one) => one["sk"]?.N).sort()).toEqual(["0", "2", "4"]);
    });

    it("has no entry for an item that lacks an index key", async () => {
      await put(client(), table, item(1, { g: S("g") }), item(2, { score: N(1) }), item(3, { g: S("g"), score: N(1) }));
      const entries = async (index: string) =>
        (await client().send(new ScanCommand({ TableName: table, IndexName: index }))).Items?.map(
          (one) => one["sk"]?.N,
        );
      expect(await entries("all")).toEqual(["3"]);
      expect((await entries("keys"))?.sort()).toEqual(["1", "3"]);
      expect(await entries("some")).toEqual([]);
      expect((await entries("local"))?.sort()).toEqual(["2", "3"]);
    });

    it("follows updates, moves and deletions", async () => {
      await put(client(), table, item(1, { g: S("g"), score: N(1), x: N(1) }));
      const found = async (g: string) =>
        (await query("all", "g = :g", { ":g": S(g) })).Items?.map((one) => [one["score"]?.N, one["x"]?.N]);
      const update = (expression: string, values?: Item) =>
        client().send(
          new UpdateItemCommand({
            TableName: table,
            Key: item(1),
            UpdateExpression: expression,
            ExpressionAttributeValues: values,
          }),
        );
      await update("SET x = :v", { ":v": N(2) });
      expect(await found("g")).toEqual([["1", "2"]]);
      await update("SET score = :v", { ":v": N(7) });
      expect(await found("g")).toEqual([["7", "2"]]);
      await update("SET g = :v", { ":v": S("h") });
      expect([await found("g"), await found("h")]).toEqual([[], [["7", "2"]]]);
      await update("REMOVE score");
      expect(await found("h")).toEqual([]);
      await update("SET score = :v", { ":v": N(8) });
      expect(await found("h")).toEqual([["8", "2"]]);
      await client().send(new DeleteItemCommand({ TableName: table, Key: item(1) }));
      expect(await found("h")).toEqual([]);
    });

    it("projects the configured attributes", async () => {
      const whole = item(1, { g: S("g"), score: N(1), name: S("n"), x: N(1), y: N(2) });
      await put(client(), table, whole);
      expect((await query("all", "g = :g", { ":g": S("g") })).Items).toEqual([whole]);
      expect((await query("keys", "g = :g", { ":g": S("g") })).Items).toEqual([item(1, { g: S("g") })]);
      const named = { ExpressionAttributeNames: { "#name": "name" } };
      expect((await query("some", "#name = :n", { ":n": S("n") }, named)).Items).toEqual([
        item(1, { name: S("n"), x: N(1) }),
      ]);
      const local = (more: Partial<QueryCommandInput>) => query("local", "pk = :p", { ":p": S("p") }, more);
      expect((await local({})).Items).toEqual([item(1, { score: N(1) })]);
      expect((await local({ Select: "ALL_ATTRIBUTES" })).Items).toEqual([whole]);
      expect((await local({ ProjectionExpression: "y" })).Items).toEqual([{ y: N(2) }]);
      expect((await local({ ConsistentRead: true })).Count).toBe(1);
    });

    it("pages through equal index keys without loss", async () => {
      await put(client(), table, ...Array.from({ length: 9 }, (_, sk) => item(sk, { g: S("g"), score: N(1) })));
      for (const ScanIndexForward of [true, false]) {
        const seen: string[] = [];
        let start: Item | undefined;
        do {
          const page = await query(
            "all",
            "g = :g",
            { ":g": S("g") },
            { Limit: 2, ScanIndexForward, ExclusiveStartKey: start },
          );
          seen.push(...(page.Items ?? []).map((one) => one["sk"]?.N ?? ""));
          start = page.LastEvaluatedKey;
          if (start) expect(Object.keys(start).sort()).toEqual(["g", "pk", "score", "sk"]);
        } while (start);
        expect([...seen].sort()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
      }
    });

    it("refuses filters on what an index lacks, and paths into keys", async () => {
      const attempts: readonly (readonly [string, Partial<QueryCommandInput>, RegExp])[] = [
        ["keys", { FilterExpression: "attribute_exists(y)" }, /does not project one or more filter attributes: \[y\]/],
        ["all", { FilterExpression: "attribute_exists(pk.x)" }, /Key attributes must be scalars.*Key: pk/],
        ["all", { ProjectionExpression: "score[0]" }, /Key attributes must be scalars.*IndexKey: score/],
      ];
      for (const [index, more, message] of attempts) {
        await refused(query(index, "g = :g", { ":g": S("g") }, more), "ValidationException", message);
      }
    });

    it("meters the entries that a write changes", async () => {
      const units = async (more: Item) => {
        const { ConsumedCapacity } = await client().send(
          new PutItemCommand({ TableName: table, Item: item(1, more), ReturnConsumedCapacity: "INDEXES" }),
        );
        return [
          ConsumedCapacity?.Table?.CapacityUnits,
          ConsumedCapacity?.GlobalSecondaryIndexes?.["all"]?.CapacityUnits,
          ConsumedCapacity?.LocalSecondaryIndexes?.["local"]?.CapacityUnits,
        ];
      };
      expect(await units({ x: N(1) })).toEqual([1, undefined, undefined]);
      expect(await units({ g: S("g"), score: N(1) })).toEqual([1, 1, 1]);
      expect(await units({ g: S("g"), score: N(1), x: N(1) })).toEqual([1, 1, undefined]);
      expect(await units({ g: S("h"), score: N(1), x: N(1) })).toEqual([1, 2, undefined]);
      expect(await units({ g: S("h"), score: N(2), x: S("x".repeat(1500)) })).toEqual([2, 3, 2]);
      expect(await units({})).toEqual([2, 2, 1]);
    });

    it("refuses consistent reads of global indexes, and attributes that they lack", async () => {
      const values = { ":g": S("g") };
      const attempts: readonly Partial<QueryCommandInput>[] = [
        { ConsistentRead: true },
        { Select: "ALL_ATTRIBUTES" },
        { ProjectionExpression: "y" },
      ];
      for (const more of attempts) await refused(query("keys", "g = :g", values, more), "ValidationException");
    });

    it("refuses an update to an empty index key", async () => {
      const update = new UpdateItemCommand({
        TableName: table,
        Key: item(1),
        UpdateExpression: "SET g = :g",
        ExpressionAttributeValues: { ":g": S("") },
      });
      await refused(client().send(update), "ValidationException", /empty string value/);
    });

    it.each([
      ["another type", { g: N(1) }, /Type mismatch for Index Key/],
      ["an empty string", { g: S("") }, /empty string value/],
    ] as readonly (readonly [string, Item, RegExp])[])("refuses an index key of %s", async (_case, more, message) => {
      await refused(put(client(), table, item(1, more)), "ValidationException", message);
    });
  });
}
