import { BatchClient, SubmitJobCommand, TerminateJobCommand } from "@aws-sdk/client-batch";
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { SendTaskSuccessCommand, SFNClient, StartExecutionCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { AssumeRoleCommand, GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";

/** Whom the requests are made by, and what they go for. */
export interface HostileWorld {
  readonly connection: {
    readonly endpoint: string;
    readonly region: string;
    readonly credentials: HostileKeys;
    readonly maxAttempts: 1;
  };
  readonly bucket: string;
  readonly runId: string;
  /** Keys of the bucket, by their class. */
  readonly keys: Readonly<Record<string, string>>;
  /** Partition keys, by table and class. */
  readonly rows: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly functions: readonly string[];
  readonly roles: readonly string[];
}

export interface HostileKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

/** The error's name, or `done`. */
type Outcomes = Readonly<Record<string, string>>;

/** Makes every request on every class of thing. @returns by class, and then by verb, what became of it */
export async function hostileRequests(world: HostileWorld): Promise<Readonly<Record<string, Outcomes>>> {
  const s3 = new S3Client(world.connection);
  const dynamodb = new DynamoDBClient(world.connection);
  const classes: Readonly<Record<string, Readonly<Record<string, () => Promise<unknown>>>>> = {
    ...Object.fromEntries(Object.entries(world.keys).map(([name, Key]) => [name, objectRequests(s3, world, Key)])),
    ...Object.fromEntries(
      Object.entries(world.rows).flatMap(([table, rows]) =>
        Object.entries(rows).map(([name, pk]) => [`${table}: ${name}`, rowRequests(dynamodb, table, pk)]),
      ),
    ),
    services: serviceRequests(world),
  };
  const outcomes = Object.entries(classes).map(async ([name, requests]) => {
    const found: Record<string, string> = {};
    for (const [verb, request] of Object.entries(requests)) {
      found[verb] = await request().then(
        (answer) => (typeof answer === "string" ? answer : "done"),
        (error: Error) => error.name,
      );
    }
    return [name, found] as const;
  });
  return Object.fromEntries(await Promise.all(outcomes));
}

/** In this order, so that an object that may be written is there before it is read. */
function objectRequests(s3: S3Client, { bucket: Bucket, runId }: HostileWorld, Key: string) {
  const at = { Bucket, Key };
  async function multipart(more: object): Promise<unknown> {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at));
    const { ETag } = await s3.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: "hostile" }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    return s3.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload, ...more }));
  }
  return {
    put: () => s3.send(new PutObjectCommand({ ...at, Body: "hostile" })),
    "put if new": () => s3.send(new PutObjectCommand({ ...at, Body: "hostile", IfNoneMatch: "*" })),
    "put if there": () => s3.send(new PutObjectCommand({ ...at, Body: "hostile", IfMatch: "*" })),
    get: () => s3.send(new GetObjectCommand(at)),
    "copy onto": () =>
      s3.send(new CopyObjectCommand({ ...at, CopySource: `${Bucket}/teams/default/runs/${runId}/training/task.json` })),
    "copy from": () =>
      s3.send(
        new CopyObjectCommand({
          Bucket,
          Key: `teams/default/runs/${runId}/training/copied`,
          CopySource: `${Bucket}/${Key}`,
        }),
      ),
    "begin parts": () => s3.send(new CreateMultipartUploadCommand(at)),
    "end parts": () => multipart({}),
    "end parts if new": () => multipart({ IfNoneMatch: "*" }),
    list: () => s3.send(new ListObjectsV2Command({ Bucket, Prefix: Key })),
    "delete many": async () => {
      const { Errors } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key }] } }));
      return Errors?.[0]?.Code;
    },
    delete: () => s3.send(new DeleteObjectCommand(at)),
  };
}

function rowRequests(dynamodb: DynamoDBClient, TableName: string, pk: string) {
  const Key = { pk: { S: pk }, sk: { S: "HOSTILE" } };
  const names = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": { S: pk } } };
  return {
    put: () => dynamodb.send(new PutItemCommand({ TableName, Item: Key })),
    get: () => dynamodb.send(new GetItemCommand({ TableName, Key })),
    query: () => dynamodb.send(new QueryCommand({ TableName, ...names })),
    "get many": () => dynamodb.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [Key] } } })),
    scan: () => dynamodb.send(new ScanCommand({ TableName })),
    update: () =>
      dynamodb.send(
        new UpdateItemCommand({
          TableName,
          Key,
          UpdateExpression: "SET a = :a",
          ExpressionAttributeValues: { ":a": { S: "x" } },
        }),
      ),
    "write many": () =>
      dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item: Key } }] } })),
    "delete in a transaction": () =>
      dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [{ Delete: { TableName, Key } }] })),
    delete: () => dynamodb.send(new DeleteItemCommand({ TableName, Key })),
  };
}

function serviceRequests({ connection, functions, roles, runId }: HostileWorld) {
  const [lambda, sts, states] = [new LambdaClient(connection), new STSClient(connection), new SFNClient(connection)];
  const [batch, events] = [new BatchClient(connection), new EventBridgeClient(connection)];
  const machine = "arn:aws:states:us-east-1:000000000000";
  const invoke = (FunctionName: string) => () => lambda.send(new InvokeCommand({ FunctionName, Payload: "{}" }));
  const assume = (RoleArn: string) => () => sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: runId }));
  return {
    ...Object.fromEntries(functions.map((name) => [`invoke ${name}`, invoke(name)])),
    ...Object.fromEntries(roles.map((arn) => [`assume ${arn.split("/").at(-1)}`, assume(arn)])),
    "say who it is": () => sts.send(new GetCallerIdentityCommand({})),
    "start an execution": () =>
      states.send(new StartExecutionCommand({ stateMachineArn: `${machine}:stateMachine:ringmaster-training-run` })),
    "stop its execution": () =>
      states.send(new StopExecutionCommand({ executionArn: `${machine}:execution:ringmaster-training-run:${runId}` })),
    "answer a task": () => states.send(new SendTaskSuccessCommand({ taskToken: "any", output: "{}" })),
    "submit a job": () =>
      batch.send(
        new SubmitJobCommand({ jobName: "x", jobQueue: "ringmaster-spot", jobDefinition: "ringmaster-trainer" }),
      ),
    "end a job": () => batch.send(new TerminateJobCommand({ jobId: "any", reason: "hostile" })),
    "put an event": () =>
      events.send(new PutEventsCommand({ Entries: [{ Source: "ringmaster", DetailType: "x", Detail: "{}" }] })),
  };
}
