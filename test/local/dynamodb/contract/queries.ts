import type { DynamoDB, QueryCommandInput, ScanCommandInput } from "@aws-sdk/client-dynamodb";
import { createTable, type Item, N, put, rangeTable, refused, S } from "../harness";

const bytes = (...values: number[]) => ({ B: new Uint8Array(values) });

export function queriesContract(client: () => DynamoDB): void {
  const query = (input: QueryCommandInput) => client().query(input);
  const scan = (input: ScanCommandInput) => client().scan(input);
  const byPk = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": S("p") } };

  describe("queries", () => {
    const order = ["-1e100", "-12.5", "-12.05", "-2", "-0.001", "0", "1e-100", "0.5", "2", "10", "10.5", "9e120"];
    let table: string;
    beforeAll(async () => {
      table = await createTable(client(), rangeTable("N"));
      const shuffled = [...order].sort((a, b) => ((a.length * 7) % 5) - ((b.length * 7) % 5));
      await put(
        client(),
        table,
        ...shuffled.map((sk) => ({ pk: S("p"), sk: N(sk), even: { BOOL: order.indexOf(sk) % 2 === 0 } })),
      );
      await put(client(), table, { pk: S("other"), sk: N(1) });
    });
    const positions = (items: readonly Item[] | undefined) =>
      (items ?? []).map((item) => order.findIndex((one) => Number(one) === Number(item["sk"]?.N)));
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

    it("returns numbers in ascending and descending order", async () => {
      const forward = await query({ TableName: table, ...byPk });
      expect(positions(forward.Items)).toEqual(range(0, 12));
      expect([forward.Count, forward.ScannedCount, forward.LastEvaluatedKey]).toEqual([12, 12, undefined]);
      const backward = await query({ TableName: table, ...byPk, ScanIndexForward: false });
      expect(positions(backward.Items)).toEqual(range(0, 12).reverse());
    });

    it.each([
      ["sk = :a", { ":a": N("-2.0") }, range(3, 4)],
      ["sk < :a", { ":a": N(0) }, range(0, 5)],
      ["sk <= :a", { ":a": N(0) }, range(0, 6)],
      ["sk > :a", { ":a": N(2) }, range(9, 12)],
      ["sk >= :a", { ":a": N(2) }, range(8, 12)],
      [":a > sk", { ":a": N(0) }, range(0, 5)],
      ["sk BETWEEN :a AND :b", { ":a": N("-12.2"), ":b": N("0.5") }, range(2, 8)],
      ["sk > :a", { ":a": N("1e124") }, []],
    ] as readonly (readonly [string, Item, number[]])[])("selects %s %j", async (condition, values, expected) => {
      const input = {
        TableName: table,
        KeyConditionExpression: `pk = :pk AND ${condition}`,
        ExpressionAttributeValues: { ":pk": S("p"), ...values },
      };
      expect(positions((await query(input)).Items)).toEqual(expected);
      const backward = await query({ ...input, ScanIndexForward: false });
      expect(positions(backward.Items)).toEqual([...expected].reverse());
    });

    it.each([
      ["forward", true],
      ["backward", false],
    ])("pages %s by Limit, counting what the filter drops", async (_way, forward) => {
      const seen: number[] = [];
      let scanned = 0;
      let start: Item | undefined;
      do {
        const page = await query({
          TableName: table,
          KeyConditionExpression: "pk = :pk",
          FilterExpression: "even = :even",
          ExpressionAttributeValues: { ":pk": S("p"), ":even": { BOOL: true } },
          ScanIndexForward: forward,
          Limit: 5,
          ExclusiveStartKey: start,
        });
        seen.push(...positions(page.Items));
        scanned += page.ScannedCount ?? 0;
        start = page.LastEvaluatedKey;
      } while (start);
      const expected = [0, 2, 4, 6, 8, 10];
      expect(seen).toEqual(forward ? expected : expected.reverse());
      expect(scanned).toBe(12);
    });

    it("continues from a deleted key", async () => {
      const start = { ExclusiveStartKey: { pk: S("p"), sk: N("0.25") } };
      const page = await query({ TableName: table, ...byPk, Limit: 2, ...start });
      expect(positions(page.Items)).toEqual([7, 8]);
      expect(page.LastEvaluatedKey).toEqual({ pk: S("p"), sk: N(2) });
    });

    it("orders strings by bytes and selects by prefix", async () => {
      const strings = await createTable(client(), rangeTable("S"));
      const sorted = ["A", "a", "a\u0000", "a\u0000b", "a#1", "a#10", "a#2", "a~", "b", "é", "\uFF01", "\u{1F600}"];
      await put(client(), strings, ...[...sorted].reverse().map((sk) => ({ pk: S("p"), sk: S(sk) })));
      const all = await query({ TableName: strings, ...byPk });
      expect(all.Items?.map((item) => item["sk"]?.S)).toEqual(sorted);
      const prefixed = await query({
        TableName: strings,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": S("p"), ":prefix": S("a#1") },
      });
      expect(prefixed.Items?.map((item) => item["sk"]?.S)).toEqual(["a#1", "a#10"]);
      const between = await query({
        TableName: strings,
        KeyConditionExpression: "pk = :pk AND sk BETWEEN :a AND :b",
        ExpressionAttributeValues: { ":pk": S("p"), ":a": S("a\u0000"), ":b": S("a#1") },
      });
      expect(between.Items?.map((item) => item["sk"]?.S)).toEqual(["a\u0000", "a\u0000b", "a#1"]);
    });

    it("orders binaries by unsigned bytes", async () => {
      const binaries = await createTable(client(), rangeTable("B"));
      const sorted = [[0], [0, 0], [0, 1], [0, 255], [1], [127], [128], [255], [255, 255]];
      await put(client(), binaries, ...[...sorted].reverse().map((sk) => ({ pk: S("p"), sk: bytes(...sk) })));
      const all = await query({ TableName: binaries, ...byPk });
      expect(all.Items?.map((item) => [...(item["sk"]?.B ?? [])])).toEqual(sorted);
      const prefixed = await query({
        TableName: binaries,
        KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues: { ":pk": S("p"), ":prefix": bytes(0) },
      });
      expect(prefixed.Items).toHaveLength(4);
    });

    const keyConditions: readonly (readonly [condition: string, message: RegExp])[] = [
      ["sk = :a", /missed key schema element/],
      ["pk > :pk", /not supported/],
      ["pk = :pk AND x = :a", /missed key schema element/],
      ["pk = :pk OR sk = :a", /Invalid operator.*OR/],
      ["pk = :pk AND sk <> :a", /Invalid operator.*<>/],
      ["pk = :pk AND attribute_exists(sk)", /Invalid operator.*attribute_exists/],
      ["pk = :pk AND sk > :a AND sk < :b", /only contain one condition per key/],
      ["pk = :pk AND sk = :pk", /does not match schema type/],
    ];
    it.each(keyConditions)("refuses the key condition %s", async (KeyConditionExpression, message) => {
      const all: Item = { ":pk": S("p"), ":a": N(1), ":b": N(2) };
      const used = Object.entries(all).filter(([name]) => KeyConditionExpression.includes(name));
      const ExpressionAttributeValues = Object.fromEntries(used);
      const attempt = query({ TableName: table, KeyConditionExpression, ExpressionAttributeValues });
      await refused(attempt, "ValidationException", message);
    });

    it.each([
      ["no key condition", { KeyConditionExpression: undefined, ExpressionAttributeValues: undefined }, /must be spec/],
      ["a filter on a key", { FilterExpression: "sk > :pk" }, /non-primary key attributes.*sk/],
      ["a limit of nothing", { Limit: 0 }, /./],
      ["an unknown index", { IndexName: "nowhere" }, /does not have the specified index: nowhere/],
      ["a start key of another partition", { ExclusiveStartKey: { pk: S("x"), sk: N(1) } }, /starting key/],
      ["half a start key", { ExclusiveStartKey: { pk: S("p") } }, /[Ss]tart/],
    ] as readonly (readonly [string, Partial<QueryCommandInput>, RegExp])[])(
      "refuses %s",
      async (_case, input, message) => {
        await refused(query({ TableName: table, ...byPk, ...input }), "ValidationException", message);
      },
    );
  });

  describe("scans", () => {
    it("covers everything once, in pages", async () => {
      const table = await createTable(client(), rangeTable("N"));
      const items = Array.from({ length: 60 }, (_, i) => ({ pk: S(`p${i % 20}`), sk: N(i) }));
      await put(client(), table, ...items);
      const keys: number[] = [];
      let start: Item | undefined;
      do {
        const page = await scan({ TableName: table, Limit: 7, ExclusiveStartKey: start });
        keys.push(...(page.Items ?? []).map((item) => Number(item["sk"]?.N)));
        start = page.LastEvaluatedKey;
      } while (start);
      expect(keys.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    });

    it("filters on keys too", async () => {
      const table = await createTable(client(), rangeTable("N"));
      await put(client(), table, { pk: S("a"), sk: N(1) }, { pk: S("b"), sk: N(2), x: S("y") });
      const page = await scan({
        TableName: table,
        FilterExpression: "pk = :b AND sk > :one",
        ExpressionAttributeValues: { ":b": S("b"), ":one": N(1) },
        ProjectionExpression: "x",
      });
      expect([page.Items, page.Count, page.ScannedCount]).toEqual([[{ x: S("y") }], 1, 2]);
    });
  });

  it("ends a page after a megabyte read", async () => {
    const table = await createTable(client(), rangeTable("N"));
    const items = Array.from({ length: 10 }, (_, i) => ({ pk: S("p"), sk: N(i), x: S("x".repeat(200_000)) }));
    for (const half of [items.slice(0, 5), items.slice(5)]) {
      const requests = half.map((Item) => ({ PutRequest: { Item } }));
      await client().batchWriteItem({ RequestItems: { [table]: requests } });
    }
    const input = { TableName: table, ...byPk, ProjectionExpression: "sk" };
    const first = await query(input);
    // 5 items are slightly more than 1,000,000 bytes, under 1,048,576. The sixth exceeds the page.
    expect([first.Count, first.LastEvaluatedKey]).toEqual([6, { pk: S("p"), sk: N(5) }]);
    const second = await query({ ...input, ExclusiveStartKey: first.LastEvaluatedKey });
    expect([second.Count, second.LastEvaluatedKey]).toEqual([4, undefined]);
    const dropped = await scan({
      TableName: table,
      FilterExpression: "x = :none",
      ExpressionAttributeValues: { ":none": S("") },
    });
    expect([dropped.Count, dropped.ScannedCount]).toEqual([0, 6]);
    expect(dropped.LastEvaluatedKey).toBeDefined();
  });
}
