import type { DynamoDB, QueryCommandInput } from "@aws-sdk/client-dynamodb";
import {
  attributes,
  createTable,
  type Item,
  indexBy,
  keySchema,
  N,
  put,
  refused,
  S,
  type TableShape,
} from "../harness";

const shape: TableShape = {
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: attributes({ pk: "S", sk: "N", g: "S", score: "N" }),
  KeySchema: keySchema("pk", "sk"),
  GlobalSecondaryIndexes: [indexBy("all", "g", "score")],
};

export function indexesContract(client: () => DynamoDB): void {
  describe("indexes", () => {
    let table: string;
    beforeEach(async () => {
      table = await createTable(client(), shape);
    });
    const query = (condition: string, values: Item, more: Partial<QueryCommandInput> = {}) =>
      client().query({
        TableName: table,
        IndexName: "all",
        KeyConditionExpression: condition,
        ExpressionAttributeValues: values,
        ...more,
      });
    const item = (sk: number, more: Item = {}): Item => ({ pk: S("p"), sk: N(sk), ...more });
    const update = (UpdateExpression: string, ExpressionAttributeValues?: Item) =>
      client().updateItem({ TableName: table, Key: item(1), UpdateExpression, ExpressionAttributeValues });

    it("orders by the index's sort key and keeps entries of equal keys apart", async () => {
      const scores = [5, -1, 5, 0.5, 5];
      await put(client(), table, ...scores.map((score, sk) => item(sk, { g: S("g"), score: N(score) })));
      const page = await query("g = :g", { ":g": S("g") });
      expect(page.Items?.map((one) => one["score"]?.N)).toEqual(["-1", "0.5", "5", "5", "5"]);
      const part = await query("g = :g AND score > :s", { ":g": S("g"), ":s": N("0.5") });
      expect(part.Items?.map((one) => one["sk"]?.N).sort()).toEqual(["0", "2", "4"]);
    });

    it("has no entry for an item that lacks an index key", async () => {
      await put(client(), table, item(1, { g: S("g") }), item(2, { score: N(1) }), item(3, { g: S("g"), score: N(1) }));
      const { Items } = await client().scan({ TableName: table, IndexName: "all" });
      expect(Items?.map((one) => one["sk"]?.N)).toEqual(["3"]);
    });

    it("follows updates, moves and deletions", async () => {
      await put(client(), table, item(1, { g: S("g"), score: N(1), x: N(1) }));
      const found = async (g: string) =>
        (await query("g = :g", { ":g": S(g) })).Items?.map((one) => [one["score"]?.N, one["x"]?.N]);
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
      await client().deleteItem({ TableName: table, Key: item(1) });
      expect(await found("h")).toEqual([]);
    });

    it("pages through equal index keys without loss", async () => {
      await put(client(), table, ...Array.from({ length: 9 }, (_, sk) => item(sk, { g: S("g"), score: N(1) })));
      for (const ScanIndexForward of [true, false]) {
        const seen: string[] = [];
        let start: Item | undefined;
        do {
          const more = { Limit: 2, ScanIndexForward, ExclusiveStartKey: start };
          const page = await query("g = :g", { ":g": S("g") }, more);
          seen.push(...(page.Items ?? []).map((one) => one["sk"]?.N ?? ""));
          start = page.LastEvaluatedKey;
          if (start) expect(Object.keys(start).sort()).toEqual(["g", "pk", "score", "sk"]);
        } while (start);
        expect([...seen].sort()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
      }
    });

    it.each<[string, Partial<QueryCommandInput>, RegExp]>([
      ["a path into a key", { FilterExpression: "attribute_exists(pk.x)" }, /must be scalars.*Key: pk/],
      ["a path into the index's key", { ProjectionExpression: "score[0]" }, /must be scalars.*IndexKey: score/],
      ["consistent reads", { ConsistentRead: true }, /Consistent reads are not supported/],
    ])("refuses %s", async (_case, more, message) => {
      await refused(query("g = :g", { ":g": S("g") }, more), "ValidationException", message);
    });

    it.each([
      ["another type", N(1), /Type mismatch for Index Key/],
      ["an empty string", S(""), /empty string value/],
    ] as const)("refuses an index key of %s, by a put and by an update", async (_case, g, message) => {
      await refused(put(client(), table, item(1, { g })), "ValidationException", message);
      await refused(update("SET g = :g", { ":g": g }), "ValidationException", message);
    });
  });
}
