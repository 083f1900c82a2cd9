import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AttributeValue, type CreateTableCommandInput, DynamoDB } from "@aws-sdk/client-dynamodb";
import type { Clock } from "../../../local/clock";
import { createDynamoDb } from "../../../local/dynamodb";
import type { TableDefinition } from "../../../platform/tables";
import { startServer } from "../../support/web-server";

/** A running DynamoDB: the embedded one, or one to compare with. */
export interface Subject {
  readonly client: DynamoDB;
  stop(): Promise<void>;
}

export type Item = Record<string, AttributeValue>;

export function connect(endpoint: string): DynamoDB {
  return new DynamoDB({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    maxAttempts: 1,
  });
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), "ringmaster-dynamodb-"));
}

/** Serves the embedded DynamoDB with a bare HTTP server, over a directory that outlives it. */
export async function serveEmbedded(dataDirectory: string, clock?: Clock): Promise<Subject> {
  const service = await createDynamoDb({ dataDirectory, ...(clock && { clock }) });
  const server = await startServer((request, response) => void service.handle(request, response));
  const client = connect(server.endpoint);
  return {
    client,
    async stop() {
      client.destroy();
      await server.close();
      await service.close();
    },
  };
}

/** Starts the embedded DynamoDB over its own directory, which is removed with it. */
export async function startEmbedded(clock?: Clock): Promise<Subject> {
  const directory = temporaryDirectory();
  const subject = await serveEmbedded(directory, clock);
  return {
    client: subject.client,
    async stop() {
      await subject.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type TableShape = Omit<CreateTableCommandInput, "TableName">;

export const attributes = (types: Readonly<Record<string, "S" | "N" | "B">>) =>
  Object.entries(types).map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));

export const keySchema = (...names: readonly [hash: string, range?: string]) =>
  names.map((AttributeName, at) => ({ AttributeName, KeyType: at === 0 ? ("HASH" as const) : ("RANGE" as const) }));

/** An index of whole items. */
export const indexBy = (IndexName: string, ...names: Parameters<typeof keySchema>) => ({
  IndexName,
  KeySchema: keySchema(...names),
  Projection: { ProjectionType: "ALL" as const },
});

/** Returns the shape of one of the platform's tables. */
export function shapeOf({ partitionKey, sortKey, indexes }: TableDefinition): TableShape {
  const keys = [{ partitionKey, sortKey }, ...indexes].flatMap((key) => [key.partitionKey, key.sortKey]);
  return {
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: attributes(Object.fromEntries(keys.map(({ name, type }) => [name, type]))),
    KeySchema: keySchema(partitionKey.name, sortKey.name),
    GlobalSecondaryIndexes: indexes.length
      ? indexes.map((index) => indexBy(index.name, index.partitionKey.name, index.sortKey.name))
      : undefined,
  };
}

/** A table with only `pk` (S). */
export const hashTable: TableShape = {
  AttributeDefinitions: attributes({ pk: "S" }),
  KeySchema: keySchema("pk"),
  BillingMode: "PAY_PER_REQUEST",
};

/** Returns a table with `pk` (S) and `sk` of the given type. */
export function rangeTable(type: "S" | "N" | "B" = "N"): TableShape {
  return {
    AttributeDefinitions: attributes({ pk: "S", sk: type }),
    KeySchema: keySchema("pk", "sk"),
    BillingMode: "PAY_PER_REQUEST",
  };
}

export async function createTable(client: DynamoDB, shape: TableShape): Promise<string> {
  const name = `t-${randomBytes(6).toString("hex")}`;
  await client.createTable({ TableName: name, ...shape });
  return name;
}

export async function put(client: DynamoDB, table: string, ...items: readonly Item[]): Promise<void> {
  for (const item of items) await client.putItem({ TableName: table, Item: item });
}

/** Asserts that a request is refused with this exception, and returns the exception. */
export async function refused(promise: Promise<unknown>, name: string, message?: RegExp): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: error as Error }),
  );
  if (!("error" in outcome)) throw new Error(`Expected ${name}, but the request succeeded`);
  expect({ name: outcome.error.name, message: outcome.error.message }).toEqual({
    name,
    message: message ? expect.stringMatching(message) : expect.any(String),
  });
  return outcome.error;
}

export const S = (value: string): AttributeValue => ({ S: value });
export const N = (value: number | string): AttributeValue => ({ N: String(value) });
