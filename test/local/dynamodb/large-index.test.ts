import { BatchWriteItemCommand, QueryCommand, type QueryCommandOutput } from "@aws-sdk/client-dynamodb";
import { createTable, hashTable, type Item, N, S, type Subject, startEmbedded } from "./harness";

const count = 4_000;

describe("an index key with 4,000 items", () => {
  let subject: Subject;
  let table: string;
  beforeAll(async () => {
    subject = await startEmbedded();
    table = await createTable(subject.client, {
      ...hashTable,
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "g", AttributeType: "S" },
        { AttributeName: "rank", AttributeType: "N" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "by-rank",
          KeySchema: [
            { AttributeName: "g", KeyType: "HASH" },
            { AttributeName: "rank", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "ALL" },
        },
      ],
    });
    const batches = Array.from({ length: count / 25 }, (_, batch) =>
      Array.from({ length: 25 }, (_, i) => batch * 25 + i),
    );
    await Promise.all(Array.from({ length: 8 }, () => writeAll(batches)));
  });
  afterAll(() => subject.stop());

  /**
   * Writes batches until the list is empty. Several calls share the list. Ranks repeat, so that many are equal.
   */
  async function writeAll(batches: number[][]): Promise<void> {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      const requests = batch.map((n) => ({
        PutRequest: { Item: { pk: S(`item-${n}`), g: S("all"), rank: N(n % 200), n: N(n) } },
      }));
      await subject.client.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
    }
  }

  async function pages(input: object): Promise<QueryCommandOutput[]> {
    const all: QueryCommandOutput[] = [];
    let start: Item | undefined;
    do {
      const page: QueryCommandOutput = await subject.client.send(
        new QueryCommand({
          TableName: table,
          IndexName: "by-rank",
          KeyConditionExpression: "g = :g",
          ExpressionAttributeValues: { ":g": S("all") },
          ExclusiveStartKey: start,
          ...input,
        }),
      );
      all.push(page);
      start = page.LastEvaluatedKey;
    } while (start);
    return all;
  }

  it("returns each of them once, in order", async () => {
    const items = (await pages({ Limit: 1_401 })).flatMap((page) => page.Items ?? []);
    expect(new Set(items.map((item) => item["pk"]?.S)).size).toBe(count);
    expect(items).toHaveLength(count);
    const ranks = items.map((item) => Number(item["rank"]?.N));
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  });

  it("finds the ones of one rank", async () => {
    const found = await pages({
      KeyConditionExpression: "g = :g AND #rank = :rank",
      ExpressionAttributeNames: { "#rank": "rank" },
      ExpressionAttributeValues: { ":g": S("all"), ":rank": N(77) },
    });
    const numbers = found.flatMap((page) => page.Items ?? []).map((item) => Number(item["n"]?.N));
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => 77 + 200 * i));
  });
});
