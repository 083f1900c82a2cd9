import type {
  CancellationReason,
  DynamoDB,
  TransactionCanceledException,
  TransactWriteItem,
} from "@aws-sdk/client-dynamodb";
import { createTable, hashTable, N, put, refused, S } from "../harness";

export function transactionsContract(client: () => DynamoDB): void {
  describe("transactions", () => {
    let table: string;
    beforeEach(async () => {
      table = await createTable(client(), hashTable);
    });
    const write = (items: readonly TransactWriteItem[], token?: string) =>
      client().transactWriteItems({ TransactItems: [...items], ClientRequestToken: token });
    const putOf = (pk: string, v = 1): TransactWriteItem => ({
      Put: { TableName: table, Item: { pk: S(pk), v: N(v) } },
    });
    const addTo = (pk: string): TransactWriteItem => ({
      Update: {
        TableName: table,
        Key: { pk: S(pk) },
        UpdateExpression: "ADD v :one",
        ExpressionAttributeValues: { ":one": N(1) },
      },
    });
    const all = async () => {
      const { Items } = await client().scan({ TableName: table });
      return Object.fromEntries((Items ?? []).map((item) => [item["pk"]?.S, Number(item["v"]?.N)]));
    };

    it("applies all of its writes", async () => {
      for (const [pk, v] of Object.entries({ gone: 1, changed: 1, checked: 5 }))
        await put(client(), table, { pk: S(pk), v: N(v) });
      await write([
        putOf("new"),
        { Delete: { TableName: table, Key: { pk: S("gone") } } },
        addTo("changed"),
        {
          ConditionCheck: {
            TableName: table,
            Key: { pk: S("checked") },
            ConditionExpression: "v = :five",
            ExpressionAttributeValues: { ":five": N(5) },
          },
        },
      ]);
      expect(await all()).toEqual({ new: 1, changed: 2, checked: 5 });
    });

    it("applies none of them when a condition fails, and names the condition", async () => {
      await put(client(), table, { pk: S("there"), v: N(1) });
      const attempt = write([
        putOf("a"),
        {
          Put: {
            TableName: table,
            Item: { pk: S("there"), v: N(2) },
            ConditionExpression: "attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          },
        },
        { ConditionCheck: { TableName: table, Key: { pk: S("absent") }, ConditionExpression: "attribute_exists(pk)" } },
      ]);
      const error = await refused(
        attempt,
        "TransactionCanceledException",
        /specific reasons \[None, ConditionalCheckFailed, ConditionalCheckFailed\]/,
      );
      const reasons = (error as TransactionCanceledException).CancellationReasons as CancellationReason[];
      expect(reasons.map((reason) => reason.Code)).toEqual([
        "None",
        "ConditionalCheckFailed",
        "ConditionalCheckFailed",
      ]);
      expect(reasons[1]).toMatchObject({
        Message: expect.stringMatching(/^The conditional request failed/),
        Item: { pk: S("there"), v: N(1) },
      });
      expect(reasons[2]?.Item).toBeUndefined();
      expect(await all()).toEqual({ there: 1 });
    });

    it("is applied once for one token", async () => {
      const add = addTo("n");
      const token = `token-${table}`;
      await Promise.all([write([add], token), write([add], token)]);
      await write([add], token);
      expect(await all()).toEqual({ n: 1 });
      await refused(write([add, putOf("other")], token), "IdempotentParameterMismatchException");
      await write([add], `${token}-2`);
      expect(await all()).toEqual({ n: 2 });
    });

    const refusals: readonly (readonly [string, () => readonly TransactWriteItem[], string])[] = [
      ["101 writes", () => Array.from({ length: 101 }, (_, i) => putOf(`k${i}`)), "ValidationException"],
      ["none", () => [], "ValidationException"],
      ["two writes of one item", () => [putOf("a"), putOf("a")], "ValidationException"],
      ["an action that is none", () => [{}], "ValidationException"],
      [
        "two actions in one",
        () => [{ ...putOf("a"), Delete: { TableName: table, Key: { pk: S("a") } } }],
        "ValidationException",
      ],
      [
        "more than 4 MB",
        () =>
          Array.from({ length: 12 }, (_, i) => ({
            Put: { TableName: table, Item: { pk: S(`k${i}`), x: S("x".repeat(390_000)) } },
          })),
        "ValidationException",
      ],
      [
        "a table that is not there",
        () => [putOf("a"), { Put: { TableName: "nowhere", Item: { pk: S("a") } } }],
        "ResourceNotFoundException",
      ],
    ];
    it.each(refusals)("refuses %s", async (_case, items, name) => {
      await refused(write(items()), name);
      expect(await all()).toEqual({});
    });
  });
}
