import { rmSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { CreateTableCommandInput, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { ClassicLevel } from "classic-level";
import { createDynamoDb } from "../../../local/dynamodb";
import type { Service } from "../../../local/service";
import { ManualClock } from "../../support/manual-clock";
import { startServer, type WebServer } from "../../support/web-server";
import { createTable, hashTable, N, put, refused, S, type Subject, serveEmbedded, temporaryDirectory } from "./harness";

/** The behaviour of DynamoDB that DynamoDB Local lacks or changes. Here the service on AWS is the model. */
describe("DynamoDB on AWS, where DynamoDB Local differs", () => {
  const start = Date.UTC(2026, 0, 1);
  let directory: string;
  let clock: ManualClock;
  let subject: Subject;
  beforeEach(async () => {
    directory = temporaryDirectory();
    clock = new ManualClock(start);
    subject = await serveEmbedded(directory, clock);
  });
  afterEach(async () => {
    await subject.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it("names the table and the key of a damaged item, and answers 500", async () => {
    const table = await createTable(subject.client, hashTable);
    await put(subject.client, table, { pk: S("a"), value: S("what was written") });
    const { getSync } = ClassicLevel.prototype;
    const stub = jest.spyOn(ClassicLevel.prototype, "getSync");
    stub.mockImplementation(function damaged(this: unknown, ...args: unknown[]) {
      return String(Reflect.apply(getSync, this, args)).replace("was written", "was damaged");
    } as never);
    const answer = subject.client.getItem({ TableName: table, Key: { pk: S("a") } });
    await expect(answer).rejects.toMatchObject({
      name: "InternalServerError",
      message: expect.stringContaining(`item {"pk":{"S":"a"}} of table ${table} is damaged`),
      $metadata: { httpStatusCode: 500 },
    });
    stub.mockRestore();
  });

  it("returns only the updated parts of nested attributes", async () => {
    const table = await createTable(subject.client, hashTable);
    await put(subject.client, table, { pk: S("a"), m: { M: { a: N(1), b: N(2) } }, l: { L: [N(1), N(2)] } });
    const { Attributes } = await subject.client.updateItem({
      TableName: table,
      Key: { pk: S("a") },
      UpdateExpression: "SET m.a = :v, l[1] = :v",
      ExpressionAttributeValues: { ":v": N(9) },
      ReturnValues: "UPDATED_NEW",
    });
    expect(Attributes).toEqual({ m: { M: { a: N(9) } }, l: { L: [N(9)] } });
  });

  it("cancels a transaction for an update that cannot be applied, with its reason", async () => {
    const table = await createTable(subject.client, hashTable);
    const update = (UpdateExpression: string) => ({
      Update: {
        TableName: table,
        Key: { pk: S(UpdateExpression) },
        UpdateExpression,
        ExpressionAttributeValues: { ":v": N(1) },
      },
    });
    const attempt = subject.client.transactWriteItems({
      TransactItems: [update("SET v = :v"), update("SET v = pk + :v")],
    });
    const error = await refused(attempt, "TransactionCanceledException", /\[None, ValidationError\]/);
    expect((error as TransactionCanceledException).CancellationReasons).toEqual([
      { Code: "None" },
      { Code: "ValidationError", Message: expect.stringMatching(/attribute that does not exist|incorrect data type/) },
    ]);
    expect((await subject.client.scan({ TableName: table })).Count).toBe(0);
  });

  it("remembers a transaction's token for ten minutes, also over a restart", async () => {
    const table = await createTable(subject.client, hashTable);
    const item = { TableName: table, Key: { pk: S("n") } };
    const Update = { ...item, UpdateExpression: "ADD v :one", ExpressionAttributeValues: { ":one": N(1) } };
    const add = async () => {
      await subject.client.transactWriteItems({ ClientRequestToken: "once", TransactItems: [{ Update }] });
      const { Item } = await subject.client.getItem(item);
      return Item?.["v"]?.N;
    };
    expect(await add()).toBe("1");
    await subject.stop();
    subject = await serveEmbedded(directory, clock);
    clock.advance(9 * 60_000);
    expect(await add()).toBe("1");
    clock.advance(60_000);
    expect(await add()).toBe("2");
  });

  it("accepts the ARN of a table as its name, and names the process that has the data open", async () => {
    const table = await createTable(subject.client, hashTable);
    await put(subject.client, `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`, { pk: S("a") });
    await expect(createDynamoDb({ dataDirectory: directory })).rejects.toThrow(/another process has it open/);
  });

  const index = { IndexName: "index", KeySchema: hashTable.KeySchema };
  const unimplemented: readonly (readonly [string, Partial<CreateTableCommandInput>])[] = [
    ["streams", { StreamSpecification: { StreamEnabled: true, StreamViewType: "KEYS_ONLY" } }],
    ["provisioned capacity", { BillingMode: "PROVISIONED" }],
    ["local indexes", { LocalSecondaryIndexes: [{ ...index, Projection: { ProjectionType: "ALL" } }] }],
    ["projections of some", { GlobalSecondaryIndexes: [{ ...index, Projection: { ProjectionType: "KEYS_ONLY" } }] }],
  ];
  it.each(unimplemented)("refuses %s, which it has not", async (_case, shape) => {
    const made = subject.client.createTable({ TableName: "table", ...hashTable, ...shape });
    await refused(made, "ValidationException", /not supported by the embedded DynamoDB/);
  });

  it("refuses legacy parameters", async () => {
    const table = await createTable(subject.client, hashTable);
    const Expected = { pk: { Exists: false } };
    const old = subject.client.putItem({ TableName: table, Item: { pk: S("a") }, Expected });
    await refused(old, "ValidationException", /Expected is not supported.*use expressions/);
  });
});

describe("the wire", () => {
  let directory: string;
  let service: Service;
  let server: WebServer;
  beforeAll(async () => {
    directory = temporaryDirectory();
    service = await createDynamoDb({ dataDirectory: directory });
    server = await startServer((request, response) => void service.handle(request, response));
  });
  afterAll(async () => {
    await server.close();
    await service.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const send = (target: string, body: string | Buffer) =>
    fetch(server.endpoint, {
      method: "POST",
      headers: { "x-amz-target": target, "content-type": "application/x-amz-json-1.0" },
      body,
    });

  const putItem = "DynamoDB_20120810.PutItem";

  it("carries the body's CRC", async () => {
    const answer = await send("DynamoDB_20120810.ListTables", "{}");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/x-amz-json-1.0");
    expect(answer.headers.get("x-amz-crc32")).toBe(String(crc32(await answer.text())));
  });

  it.each([
    ["an unknown operation", "DynamoDB_20120810.ExecuteStatement", "{}", "UnknownOperationException"],
    ["another API version", "DynamoDB_20111205.ListTables", "{}", "UnknownOperationException"],
    ["what is no JSON", "DynamoDB_20120810.ListTables", "{", "SerializationException"],
    ["what is no object", "DynamoDB_20120810.ListTables", "[]", "SerializationException"],
    ["a member of another type", "DynamoDB_20120810.GetItem", '{"TableName":1}', "SerializationException"],
    ["a bare number", putItem, '{"TableName":"tab","Item":{"pk":{"N":1}}}', "SerializationException"],
    ["base64 that is none", putItem, '{"TableName":"tab","Item":{"pk":{"B":"a"}}}', "SerializationException"],
    ["nothing that is required", "DynamoDB_20120810.GetItem", "{}", "ValidationException"],
  ])("refuses %s", async (_case, target, body, type) => {
    const answer = await send(target, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ __type: expect.stringMatching(new RegExp(`#${type}$`)) });
  });

  it("refuses a body over 16 MB", async () => {
    const answer = await send("DynamoDB_20120810.PutItem", Buffer.alloc(16 * 1024 * 1024 + 1, " "));
    expect(answer.status).toBe(413);
  });

  it("lists all problems at once", async () => {
    const answer = await send("DynamoDB_20120810.Query", '{"TableName":"a","Limit":0}');
    const { message } = (await answer.json()) as { message: string };
    expect(message).toBe(
      "2 validation errors detected: Value 'a' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3; " +
        "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
    );
  });
});
