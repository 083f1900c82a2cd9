import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { createTable, hashTable, N, put, rangeTable, refused, S } from "../harness";

export function tablesContract(client: () => DynamoDBClient): void {
  describe("tables", () => {
    it("describes what was created", async () => {
      const table = await createTable(client(), rangeTable("N"));
      await waitUntilTableExists({ client: client(), maxWaitTime: 5, minDelay: 1, maxDelay: 1 }, { TableName: table });
      await put(client(), table, { pk: S("a"), sk: N(1) }, { pk: S("a"), sk: N(2) });
      const { Table } = await client().send(new DescribeTableCommand({ TableName: table }));
      expect(Table).toMatchObject({
        TableName: table,
        TableStatus: "ACTIVE",
        KeySchema: [
          { AttributeName: "pk", KeyType: "HASH" },
          { AttributeName: "sk", KeyType: "RANGE" },
        ],
        ItemCount: 2,
        BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
      });
      expect(Table?.TableArn).toMatch(new RegExp(`:table/${table}$`));
      expect(Table?.CreationDateTime).toBeInstanceOf(Date);
    });

    it("lists page by page", async () => {
      const names = [await createTable(client(), hashTable), await createTable(client(), hashTable)].sort();
      const listed: string[] = [];
      let start: string | undefined;
      do {
        const page = await client().send(new ListTablesCommand({ Limit: 1, ExclusiveStartTableName: start }));
        listed.push(...(page.TableNames ?? []));
        start = page.LastEvaluatedTableName;
      } while (start !== undefined);
      expect(listed.filter((name) => names.includes(name))).toEqual(names);
      expect(new Set(listed).size).toBe(listed.length);
    });

    it("deletes a table with all of its items", async () => {
      const table = await createTable(client(), hashTable);
      await put(client(), table, { pk: S("a") });
      await client().send(new DeleteTableCommand({ TableName: table }));
      await refused(client().send(new DescribeTableCommand({ TableName: table })), "ResourceNotFoundException");
      await refused(
        client().send(new PutItemCommand({ TableName: table, Item: { pk: S("a") } })),
        "ResourceNotFoundException",
      );
      await client().send(new CreateTableCommand({ TableName: table, ...hashTable }));
      const { Item } = await client().send(new GetItemCommand({ TableName: table, Key: { pk: S("a") } }));
      expect(Item).toBeUndefined();
    });

    it("keeps a protected table", async () => {
      const table = await createTable(client(), { ...hashTable, DeletionProtectionEnabled: true });
      await refused(client().send(new DeleteTableCommand({ TableName: table })), "ValidationException");
      await client().send(new UpdateTableCommand({ TableName: table, DeletionProtectionEnabled: false }));
      await client().send(new DeleteTableCommand({ TableName: table }));
    });

    it("refuses a second table of the same name", async () => {
      const table = await createTable(client(), hashTable);
      await refused(
        client().send(new CreateTableCommand({ TableName: table, ...hashTable })),
        "ResourceInUseException",
      );
    });

    const all = { ProjectionType: "ALL" as const };
    const shapes: readonly (readonly [string, Partial<CreateTableCommandInput>])[] = [
      ["no provisioned throughput", { BillingMode: "PROVISIONED" }],
      ["an empty key schema", { KeySchema: [] }],
      ["a key without a definition", { KeySchema: [{ AttributeName: "other", KeyType: "HASH" }] }],
      ["a range key without a hash key", { KeySchema: [{ AttributeName: "pk", KeyType: "RANGE" }] }],
      [
        "a definition that no key uses",
        { AttributeDefinitions: ["pk", "x"].map((name) => ({ AttributeName: name, AttributeType: "S" })) },
      ],
      [
        "a global index on an undefined attribute",
        {
          GlobalSecondaryIndexes: [
            { IndexName: "gsi", KeySchema: [{ AttributeName: "g", KeyType: "HASH" }], Projection: all },
          ],
        },
      ],
      [
        "a local index on a table without a sort key",
        {
          LocalSecondaryIndexes: [
            { IndexName: "lsi", KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }], Projection: all },
          ],
        },
      ],
    ];
    it.each(shapes)("refuses to create a table with %s", async (_case, shape) => {
      await refused(createTable(client(), { ...hashTable, ...shape }), "ValidationException");
    });

    it("adds and drops a global index on a table with data", async () => {
      const table = await createTable(client(), hashTable);
      await put(client(), table, { pk: S("a"), g: S("x") }, { pk: S("b"), g: S("x") }, { pk: S("c") });
      await client().send(
        new UpdateTableCommand({
          TableName: table,
          AttributeDefinitions: [{ AttributeName: "g", AttributeType: "S" }],
          GlobalSecondaryIndexUpdates: [
            {
              Create: { IndexName: "by-g", KeySchema: [{ AttributeName: "g", KeyType: "HASH" }], Projection: all },
            },
          ],
        }),
      );
      await until(async () => {
        const { Table } = await client().send(new DescribeTableCommand({ TableName: table }));
        return Table?.GlobalSecondaryIndexes?.[0]?.IndexStatus === "ACTIVE";
      });
      await put(client(), table, { pk: S("d"), g: S("x") });
      const find = () =>
        client().send(
          new QueryCommand({
            TableName: table,
            IndexName: "by-g",
            KeyConditionExpression: "g = :g",
            ExpressionAttributeValues: { ":g": S("x") },
          }),
        );
      expect((await find()).Items?.map((item) => item["pk"]?.S).sort()).toEqual(["a", "b", "d"]);
      await client().send(
        new UpdateTableCommand({
          TableName: table,
          GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: "by-g" } }],
        }),
      );
      await until(async () => {
        const { Table } = await client().send(new DescribeTableCommand({ TableName: table }));
        return Table?.GlobalSecondaryIndexes === undefined;
      });
      await refused(find(), "ValidationException");
    });

    it("refuses an update of nothing", async () => {
      const table = await createTable(client(), hashTable);
      await refused(client().send(new UpdateTableCommand({ TableName: table })), "ValidationException");
    });

    it("enables and disables time to live", async () => {
      const table = await createTable(client(), hashTable);
      const change = (Enabled: boolean, AttributeName: string) =>
        client().send(
          new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification: { Enabled, AttributeName } }),
        );
      const described = async () =>
        (await client().send(new DescribeTimeToLiveCommand({ TableName: table }))).TimeToLiveDescription;
      expect(await described()).toEqual({ TimeToLiveStatus: "DISABLED" });
      await change(true, "expires");
      expect(await described()).toEqual({ TimeToLiveStatus: "ENABLED", AttributeName: "expires" });
      await refused(change(true, "expires"), "ValidationException", /already enabled/);
      await refused(change(true, "other"), "ValidationException", /active on a different AttributeName/);
      await change(false, "expires");
      expect(await described()).toEqual({ TimeToLiveStatus: "DISABLED" });
      await refused(change(false, "expires"), "ValidationException", /already disabled/);
    });
  });
}

/** Waits for a condition. The original creates indexes in the background. */
async function until(done: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await done()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("It did not come about");
}
