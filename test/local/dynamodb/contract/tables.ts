import type { CreateTableCommandInput, DynamoDB } from "@aws-sdk/client-dynamodb";
import { attributes, createTable, hashTable, indexBy, refused } from "../harness";

export function tablesContract(client: () => DynamoDB): void {
  describe("tables", () => {
    it("lists page by page", async () => {
      const names = [await createTable(client(), hashTable), await createTable(client(), hashTable)].sort();
      const listed: string[] = [];
      let start: string | undefined;
      do {
        const page = await client().listTables({ Limit: 1, ExclusiveStartTableName: start });
        listed.push(...(page.TableNames ?? []));
        start = page.LastEvaluatedTableName;
      } while (start !== undefined);
      expect(listed.filter((name) => names.includes(name))).toEqual(names);
      expect(new Set(listed).size).toBe(listed.length);
    });

    it("refuses a second table of the same name", async () => {
      const table = await createTable(client(), hashTable);
      await refused(client().createTable({ TableName: table, ...hashTable }), "ResourceInUseException");
    });

    const shapes: readonly (readonly [string, Partial<CreateTableCommandInput>])[] = [
      ["an empty key schema", { KeySchema: [] }],
      ["a key without a definition", { KeySchema: [{ AttributeName: "other", KeyType: "HASH" }] }],
      ["a range key without a hash key", { KeySchema: [{ AttributeName: "pk", KeyType: "RANGE" }] }],
      ["a definition that no key uses", { AttributeDefinitions: attributes({ pk: "S", x: "S" }) }],
      ["a global index on an undefined attribute", { GlobalSecondaryIndexes: [indexBy("gsi", "g")] }],
    ];
    it.each(shapes)("refuses to create a table with %s", async (_case, shape) => {
      await refused(createTable(client(), { ...hashTable, ...shape }), "ValidationException");
    });

    it("enables time to live once", async () => {
      const table = await createTable(client(), hashTable);
      const enable = (AttributeName: string) =>
        client().updateTimeToLive({ TableName: table, TimeToLiveSpecification: { Enabled: true, AttributeName } });
      await enable("expires");
      await refused(enable("expires"), "ValidationException", /already enabled/);
      await refused(enable("other"), "ValidationException", /active on a different AttributeName/);
    });
  });
}
