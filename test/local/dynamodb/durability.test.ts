import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  CreateTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { buildSync } from "esbuild";
import { connect, hashTable, type Item, N, S, serveEmbedded, type TableShape, temporaryDirectory } from "./harness";

const root = resolve(__dirname, "../../..");
const shape: TableShape = {
  ...hashTable,
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "group", AttributeType: "S" },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: "by-group",
      KeySchema: [{ AttributeName: "group", KeyType: "HASH" }],
      Projection: { ProjectionType: "ALL" },
    },
  ],
};

/** The requests of writers, and the acknowledged ones. */
interface Log {
  readonly puts: Set<string>;
  readonly transactions: Set<string>;
  readonly attemptedTransactions: Set<string>;
  additions: number;
  attemptedAdditions: number;
}

describe("a process that is killed", () => {
  const directory = temporaryDirectory();
  const data = join(directory, "data");
  const script = join(directory, "child.js");
  let child: ChildProcess | undefined;

  beforeAll(() => {
    buildSync({
      entryPoints: [join(__dirname, "kill-child.ts")],
      outfile: script,
      bundle: true,
      platform: "node",
      external: ["classic-level"],
      logLevel: "error",
    });
  });
  afterAll(() => {
    child?.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  });

  async function start(): Promise<DynamoDBClient> {
    child = spawn(process.execPath, [script, data], {
      env: { ...process.env, NODE_PATH: join(root, "node_modules") },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout!, "data")) as [Buffer];
    return connect(`http://127.0.0.1:${line.toString().trim()}`);
  }

  it("has lost no acknowledged write, and applied no transaction partly", async () => {
    const log: Log = {
      puts: new Set(),
      transactions: new Set(),
      attemptedTransactions: new Set(),
      additions: 0,
      attemptedAdditions: 0,
    };
    // The first round ends early. The later ones end in the middle of a log that was recovered before.
    for (const [round, killAfter] of [5, 60, 200].entries()) {
      const client = await start();
      if (round === 0) await client.send(new CreateTableCommand({ TableName: "kill", ...shape }));
      let acknowledged = 0;
      const acknowledge = () => {
        acknowledged++;
        if (acknowledged === killAfter) child?.kill("SIGKILL");
      };
      const writers = Array.from({ length: 8 }, (_, writer) => write(client, log, `${round}-${writer}`, acknowledge));
      await Promise.all(writers);
      client.destroy();
    }
    await check(data, log);
  });
});

/** Writes until the connection breaks. */
async function write(client: DynamoDBClient, log: Log, name: string, acknowledge: () => void): Promise<void> {
  try {
    for (let i = 0; ; i++) {
      const id = `${name}-${i}`;
      await client.send(
        new PutItemCommand({
          TableName: "kill",
          Item: { pk: S(`put-${id}`), group: S("puts"), x: S("x".repeat(500)) },
        }),
      );
      log.puts.add(`put-${id}`);
      acknowledge();
      log.attemptedTransactions.add(id);
      await client.send(new TransactWriteItemsCommand({ TransactItems: parts(id) }));
      log.transactions.add(id);
      acknowledge();
      log.attemptedAdditions++;
      await client.send(
        new UpdateItemCommand({
          TableName: "kill",
          Key: { pk: S("counter") },
          UpdateExpression: "ADD n :one",
          ExpressionAttributeValues: { ":one": N(1) },
        }),
      );
      log.additions++;
      acknowledge();
    }
  } catch (error) {
    if (!/ECONNRESET|ECONNREFUSED|socket hang up|EPIPE/.test(`${(error as { code?: string }).code} ${error}`))
      throw error;
  }
}

const partsOfATransaction = 5;

function parts(id: string) {
  return Array.from({ length: partsOfATransaction }, (_, part) => ({
    Put: { TableName: "kill", Item: { pk: S(`part-${part}-${id}`), group: S(`transaction-${id}`) } },
  }));
}

async function check(data: string, log: Log): Promise<void> {
  const { client, stop } = await serveEmbedded(data);
  try {
    const items = await everything(client);
    for (const pk of log.puts) expect(items.has(pk)).toBe(true);
    for (const id of log.attemptedTransactions) {
      const there = Array.from({ length: partsOfATransaction }, (_, part) => items.has(`part-${part}-${id}`));
      expect(new Set(there).size).toBe(1);
      if (log.transactions.has(id)) expect(there[0]).toBe(true);
      expect(await groupSize(client, `transaction-${id}`)).toBe(there[0] ? partsOfATransaction : 0);
    }
    const puts = [...items.keys()].filter((pk) => pk.startsWith("put-"));
    expect(await groupSize(client, "puts")).toBe(puts.length);
    const counted = Number(items.get("counter")?.["n"]?.N ?? 0);
    expect(counted).toBeGreaterThanOrEqual(log.additions);
    expect(counted).toBeLessThanOrEqual(log.attemptedAdditions);
  } finally {
    await stop();
  }
}

async function everything(client: DynamoDBClient): Promise<Map<string, Item>> {
  const items = new Map<string, Item>();
  let start: Item | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName: "kill", ExclusiveStartKey: start }));
    for (const item of page.Items ?? []) items.set(item["pk"]?.S ?? "", item);
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

async function groupSize(client: DynamoDBClient, group: string): Promise<number> {
  const page = await client.send(
    new QueryCommand({
      TableName: "kill",
      IndexName: "by-group",
      KeyConditionExpression: "#group = :group",
      ExpressionAttributeNames: { "#group": "group" },
      ExpressionAttributeValues: { ":group": S(group) },
      Select: "COUNT",
    }),
  );
  return page.Count ?? 0;
}
