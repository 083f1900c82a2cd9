import {
  type AttributeValue,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { normalizeNumber } from "../../local/dynamodb/value/number";
import { connect, type Subject, startEmbedded } from "../local/dynamodb/harness";
import { describeWithOriginal, endpoint } from "./dynamodb-original";
import { indexedTable, type RandomRequest, RequestGenerator } from "./dynamodb-requests";

const requests = 3_000;

/** Sends the same random requests to the embedded DynamoDB and to Amazon's DynamoDB Local, and compares the answers. */
describeWithOriginal("DynamoDB Local and ours", () => {
  const original = connect(endpoint);
  let ours: Subject;
  beforeAll(async () => {
    ours = await startEmbedded();
  });
  afterAll(async () => {
    original.destroy();
    await ours.stop();
  });

  it.each([1, 2, 3])("answer alike, seed %d", async (seed) => {
    const table = `differential-${seed}-${Date.now()}`;
    for (const client of [original, ours.client]) {
      await client.send(new CreateTableCommand({ TableName: table, ...structuredClone(indexedTable) } as never));
    }
    const generator = new RequestGenerator(table, seed);
    for (let i = 0; i < requests; i++) {
      const request = generator.next();
      const [theirs, mine] = await Promise.all([answer(original, request), answer(ours.client, request)]);
      if (knownDifference(request, theirs, mine)) await copyItems(table, ours.client, original);
      else expect({ request, answer: mine.outcome }).toEqual({ request, answer: theirs.outcome });
    }
  });
});

interface Answer {
  /** The exception's name, or the normalised output. */
  readonly outcome: unknown;
  readonly message: string;
}

const commands: Record<RandomRequest["operation"], new (input: never) => object> = {
  PutItem: PutItemCommand,
  DeleteItem: DeleteItemCommand,
  UpdateItem: UpdateItemCommand,
  Query: QueryCommand,
  Scan: ScanCommand,
  GetItem: GetItemCommand,
  TransactWriteItems: TransactWriteItemsCommand,
};

async function answer(client: DynamoDBClient, { operation, input }: RandomRequest): Promise<Answer> {
  try {
    const { $metadata: _metadata, ...output } = (await client.send(
      new commands[operation](input as never) as never,
    )) as {
      $metadata: unknown;
      Items?: unknown[];
    };
    // A scan's order, and a query's among equal sort keys, is nobody's promise.
    const items = output.Items?.map((item) => JSON.stringify(normal(item))).sort();
    const asksCapacity = input["ReturnConsumedCapacity"] !== undefined;
    return {
      outcome: normal({ ...output, Items: items, ...(asksCapacity ? {} : { ConsumedCapacity: undefined }) }),
      message: "",
    };
  } catch (error) {
    const { name, message, CancellationReasons = [] } = error as Error & { CancellationReasons?: unknown };
    return { outcome: name, message: message + JSON.stringify(CancellationReasons) };
  }
}

/** Numbers in canonical form, sets and members in order. */
function normal(value: unknown): unknown {
  if (value instanceof Uint8Array) return `binary ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== "object" || value === null) return value;
  const { N, NS, SS, BS } = value as AttributeValue & Record<string, never>;
  if (typeof N === "string") return { N: normalizeNumber(N) };
  if (Array.isArray(NS)) return { NS: (NS as string[]).map(normalizeNumber).sort() };
  if (Array.isArray(SS)) return { SS: [...(SS as string[])].sort() };
  if (Array.isArray(BS)) return { BS: (BS as unknown[]).map(normal).sort() };
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, normal(member)]),
  );
}

/** Cases in which DynamoDB Local differs from DynamoDB, or two errors are both right and it reports the other one first. */
function knownDifference({ operation }: RandomRequest, theirs: Answer, mine: Answer): boolean {
  if (theirs.outcome === mine.outcome) return false;
  // It stores an item whose index key an update has given another type.
  if (/Type mismatch for Index Key/.test(mine.message)) return true;
  // It judges the condition before it looks at what the update is about.
  if (/part of the key|Key attributes must be scalars/.test(mine.message + theirs.message)) return true;
  // An update that cannot be applied makes it refuse a transaction, not cancel it; and it looks for duplicates last.
  return operation === "TransactWriteItems" && typeof theirs.outcome === "string" && typeof mine.outcome === "string";
}

/** Brings the other table to the same items. */
async function copyItems(table: string, from: DynamoDBClient, to: DynamoDBClient): Promise<void> {
  const wanted = (await from.send(new ScanCommand({ TableName: table }))).Items ?? [];
  const there = (await to.send(new ScanCommand({ TableName: table }))).Items ?? [];
  const deletions = there.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk: pk!, sk: sk! } } }));
  const puts = wanted.map((Item) => ({ PutRequest: { Item } }));
  for (const batch of [deletions, puts]) {
    if (batch.length > 0) await to.send(new BatchWriteItemCommand({ RequestItems: { [table]: batch } }));
  }
}
