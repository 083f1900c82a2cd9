import { json } from "node:stream/consumers";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { contentType, Signer } from "../../../adapters/signer";
import { startServer, type WebServer } from "../../support/web-server";

interface Received {
  readonly operation: string;
  readonly agent: string | undefined;
  readonly body: unknown;
}

const key = { pk: "a", sk: "b" };
const options = { region: "eu-north-1", credentials: { accessKeyId: "AK", secretAccessKey: "secret" }, maxAttempts: 2 };

describe("the lean client", () => {
  let server: WebServer;
  let received: Received[];
  let answers: { status: number; body: object }[];
  let documents: DynamoDBDocumentClient;
  let stock: DynamoDBDocumentClient;

  beforeEach(async () => {
    received = [];
    answers = [];
    server = await startServer(async (request, response) => {
      received.push({
        operation: String(request.headers["x-amz-target"]).split(".")[1]!,
        agent: request.headers["user-agent"],
        body: await json(request),
      });
      const { status, body } = answers.shift() ?? { status: 200, body: {} };
      response.writeHead(status, { "content-type": contentType });
      response.end(JSON.stringify(body));
    });
    const { endpoint } = server;
    documents = createDocumentClient(new DynamoDBClient({ ...options, endpoint }));
    stock = DynamoDBDocumentClient.from(new DynamoDBClient({ ...options, endpoint }), {
      marshallOptions: { removeUndefinedValues: true, allowImpreciseNumbers: true },
      unmarshallOptions: { wrapNumbers: Number },
    });
    // The client learns the address from the first request.
    await documents.send(new GetCommand({ TableName: "table", Key: key }));
    received = [];
  });

  afterEach(async () => {
    documents.destroy();
    stock.destroy();
    await server.close();
  });

  const item = {
    ...key,
    text: "",
    number: -1.5e-7,
    large: 2 ** 60,
    yes: true,
    nothing: null,
    absent: undefined,
    bytes: new Uint8Array([0, 255, 7]).subarray(1),
    list: [1, "two", [false], { three: 3 }],
    map: { empty: {}, absent: undefined },
  };

  it.each([
    ["PutItem", new PutCommand({ TableName: "table", Item: item, ConditionExpression: "attribute_not_exists(pk)" })],
    [
      "UpdateItem",
      new UpdateCommand({
        TableName: "table",
        Key: key,
        UpdateExpression: "SET #a = :a",
        ExpressionAttributeNames: { "#a": "Item" },
        ExpressionAttributeValues: { ":a": item },
      }),
    ],
    [
      "Query",
      new QueryCommand({
        TableName: "table",
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": "a" },
        ExclusiveStartKey: key,
        ConsistentRead: true,
      }),
    ],
    ["BatchGetItem", new BatchGetCommand({ RequestItems: { table: { Keys: [key], ConsistentRead: true } } })],
    [
      "BatchWriteItem",
      new BatchWriteCommand({
        RequestItems: { table: [{ PutRequest: { Item: item } }, { DeleteRequest: { Key: key } }] },
      }),
    ],
    [
      "TransactWriteItems",
      new TransactWriteCommand({
        ClientRequestToken: "once",
        TransactItems: [{ Put: { TableName: "table", Item: item } }, { Delete: { TableName: "table", Key: key } }],
      }),
    ],
  ])("asks %s what the SDK asks", async (operation, command) => {
    await documents.send(command as PutCommand);
    await stock.send(command as PutCommand);
    const [lean, theirs] = received;
    expect(lean).toEqual({ operation, agent: undefined, body: theirs!.body });
    expect(theirs).toMatchObject({ operation, agent: expect.stringContaining("aws-sdk-js") });
  });

  const shown = {
    pk: { S: "a" },
    number: { N: "18014398509481984" },
    yes: { BOOL: true },
    nothing: { NULL: true },
    bytes: { B: "/wc=" },
    list: { L: [{ N: "1" }, { M: { a: { S: "b" } } }] },
    texts: { SS: ["x", "y"] },
    numbers: { NS: ["1", "2"] },
    binaries: { BS: ["/wc="] },
  };

  it.each([
    [new GetCommand({ TableName: "table", Key: key }), { Item: shown }],
    [new QueryCommand({ TableName: "table" }), { Items: [shown], Count: 1, LastEvaluatedKey: { pk: { S: "a" } } }],
    [
      new BatchGetCommand({ RequestItems: { table: { Keys: [key] } } }),
      { Responses: { table: [shown] }, UnprocessedKeys: { table: { Keys: [{ pk: { S: "a" } }] } } },
    ],
    [
      new BatchWriteCommand({ RequestItems: { table: [{ DeleteRequest: { Key: key } }] } }),
      {
        UnprocessedItems: { table: [{ PutRequest: { Item: shown } }, { DeleteRequest: { Key: { pk: { S: "a" } } } }] },
      },
    ],
    [new UpdateCommand({ TableName: "table", Key: key }), { Attributes: shown }],
  ])("understands an answer as the SDK does (%#)", async (command, body) => {
    answers = [
      { status: 200, body },
      { status: 200, body },
    ];
    const { $metadata: ours, ...lean } = await documents.send(command as GetCommand);
    const { $metadata: _theirs, ...theirs } = await stock.send(command as GetCommand);
    expect(received[0]!.agent).toBeUndefined();
    expect(ours.httpStatusCode).toBe(200);
    expect(lean).toEqual(theirs);
  });

  it.each([
    ["ConditionalCheckFailedException", {}],
    [
      "TransactionCanceledException",
      { CancellationReasons: [{ Code: "None" }, { Code: "ConditionalCheckFailed", Message: "no" }] },
    ],
  ])("throws %s at once, as the SDK does", async (name, members) => {
    const refusal = {
      status: 400,
      body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "why", ...members },
    };
    answers = [refusal];
    const error: unknown = await documents.send(new PutCommand({ TableName: "table", Item: key })).catch((e) => e);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, message: "why", ...members });
    expect(received).toHaveLength(1);
  });

  it.each([
    [500, "InternalServerError"],
    [400, "ProvisionedThroughputExceededException"],
    [400, "RequestTimeTooSkewed"],
  ])("leaves %i %s to the SDK", async (status, name) => {
    answers = [{ status, body: { __type: name } }];
    await documents.send(new PutCommand({ TableName: "table", Item: key }));
    expect(received.map(({ agent }) => agent === undefined)).toEqual([true, false]);
    expect(received[1]!.body).toEqual(received[0]!.body);
  });

  it("throws the SDK's error for a request that is refused permanently", async () => {
    const refusal = { status: 400, body: { __type: "ValidationException", message: "no key" } };
    answers = [refusal, refusal];
    const put = documents.send(new PutCommand({ TableName: "table", Item: key }));
    await expect(put).rejects.toMatchObject({ name: "ValidationException", message: "no key" });
    expect(received).toHaveLength(2);
  });

  it("repeats a transaction with the same token", async () => {
    answers = [{ status: 503, body: {} }];
    await documents.send(new TransactWriteCommand({ TransactItems: [{ Put: { TableName: "table", Item: key } }] }));
    const tokens = received.map(({ body }) => (body as { ClientRequestToken: string }).ClientRequestToken);
    expect(tokens).toHaveLength(2);
    expect(tokens[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(tokens[1]).toBe(tokens[0]);
  });

  it.each([[new Set(["a"])], [10n]])("lets the SDK translate special values (%p)", async (value) => {
    await documents.send(new PutCommand({ TableName: "table", Item: { ...key, value } }));
    expect(received.map(({ agent }) => agent === undefined)).toEqual([false]);
  });

  it("refuses non-finite numbers like the SDK", async () => {
    const put = documents.send(new PutCommand({ TableName: "table", Item: { ...key, value: Number.NaN } }));
    await expect(put).rejects.toThrow("NaN");
    expect(received).toEqual([]);
  });
});

describe("Signer", () => {
  it.each([
    [{ accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" }],
    [{ accessKeyId: "ASIA", secretAccessKey: "secret", sessionToken: "to/ken+=" }],
  ])("signs as the SDK does (%#)", async (credentials) => {
    const now = new Date("2026-02-03T23:59:58.765Z");
    const [host, target, body] = ["dynamodb.eu-north-1.amazonaws.com", "DynamoDB_20120810.PutItem", Buffer.from("{}")];
    const theirs = new SignatureV4({
      service: "dynamodb",
      region: "eu-north-1",
      credentials,
      sha256: Sha256,
      applyChecksum: false,
    });
    const unsigned = {
      method: "POST",
      protocol: "https:",
      hostname: host,
      path: "/",
      query: {},
      headers: { host, "content-type": contentType, "x-amz-target": target },
      body,
    };
    const signed = await theirs.sign(unsigned, { signingDate: now });
    const signer = new Signer("dynamodb");
    // Another secret and another day in between.
    signer.sign({ host, target, body }, { accessKeyId: "x", secretAccessKey: "y" }, "eu-north-1", now);
    signer.sign({ host, target, body }, credentials, "eu-north-1", new Date("2026-02-04T00:00:01Z"));
    const headers = signer.sign({ host, target, body }, credentials, "eu-north-1", now);
    expect(headers["authorization"]).toBe(signed.headers["authorization"]);
    expect(headers).toMatchObject({ "x-amz-date": "20260203T235958Z", "content-length": "2" });
    expect(headers["x-amz-security-token"]).toBe((credentials as { sessionToken?: string }).sessionToken);
  });
});
