import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  SFNClient,
  StartExecutionCommand,
} from "@aws-sdk/client-sfn";

export interface Operation {
  readonly name: string;
  /** Requests in one measurement. */
  readonly count: number;
  /** Number of concurrent clients. */
  readonly clients: number;
  run(i: number): Promise<unknown>;
}

const table = "bench";
const bucket = "bench";
const text = "x".repeat(600);
const large = Buffer.alloc(8 * 1024 * 1024, 7);
const small = Buffer.alloc(1024, 7);
const rowsOfPartition = 100;

/** Prepares the measured operations against the ports of DynamoDB, S3 and Step Functions. */
export async function prepare([dynamoDbPort, s3Port, statesPort]: readonly number[]): Promise<readonly Operation[]> {
  const connection = (port: number | undefined) => ({
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "bench", secretAccessKey: "bench" },
  });
  const dynamodb = new DynamoDBClient(connection(dynamoDbPort));
  const s3 = new S3Client({ ...connection(s3Port), forcePathStyle: true });
  const states = new SFNClient(connection(statesPort));
  const key = (pk: string, sk: number) => ({ pk: { S: pk }, sk: { N: String(sk) } });
  const put = (pk: string, sk: number) =>
    dynamodb.send(new PutItemCommand({ TableName: table, Item: { ...key(pk, sk), text: { S: text } } }));

  await dynamodb.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [
        { AttributeName: "pk", AttributeType: "S" },
        { AttributeName: "sk", AttributeType: "N" },
      ],
      KeySchema: [
        { AttributeName: "pk", KeyType: "HASH" },
        { AttributeName: "sk", KeyType: "RANGE" },
      ],
    }),
  );
  for (let sk = 0; sk < rowsOfPartition; sk++) await put("read", sk);
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  const putObject = (Key: string, Body: Buffer) => s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
  const getObject = async (Key: string) =>
    (await s3.send(new GetObjectCommand({ Bucket: bucket, Key }))).Body?.transformToByteArray();
  await putObject("small", small);
  await putObject("large", large);
  const definition = {
    QueryLanguage: "JSONata",
    StartAt: "Ask",
    States: {
      Ask: {
        Type: "Task",
        Resource: "arn:aws:states:::lambda:invoke",
        Arguments: { FunctionName: "echo", Payload: "{% $states.input %}" },
        Next: "End",
      },
      End: { Type: "Succeed" },
    },
  };
  const { stateMachineArn } = await states.send(
    new CreateStateMachineCommand({
      name: "bench",
      definition: JSON.stringify(definition),
      roleArn: "arn:aws:iam::000000000000:role/bench",
    }),
  );
  async function execute(): Promise<void> {
    const { executionArn } = await states.send(new StartExecutionCommand({ stateMachineArn, input: "{}" }));
    for (;;) {
      const { status } = await states.send(new DescribeExecutionCommand({ executionArn }));
      if (status === "SUCCEEDED") return;
      if (status !== "RUNNING") throw new Error(`the execution ended as ${status}`);
    }
  }

  let unique = 0;
  const transact = () =>
    dynamodb.send(
      new TransactWriteItemsCommand({
        TransactItems: [0, 1, 2, 3].map((part) => ({
          Put: { TableName: table, Item: { ...key(`t${unique++}`, part), text: { S: text } } },
        })),
      }),
    );
  const query = () =>
    dynamodb.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: "read" } },
      }),
    );
  return [
    { name: "DynamoDB PutItem, 1 client", count: 400, clients: 1, run: () => put(`p${unique++}`, 0) },
    { name: "DynamoDB PutItem, 16 clients", count: 1_600, clients: 16, run: () => put(`p${unique++}`, 0) },
    {
      name: "DynamoDB GetItem, 16 clients",
      count: 1_600,
      clients: 16,
      run: (i) => dynamodb.send(new GetItemCommand({ TableName: table, Key: key("read", i % rowsOfPartition) })),
    },
    { name: "DynamoDB Query of 100 items, 4 clients", count: 400, clients: 4, run: query },
    { name: "DynamoDB TransactWriteItems of 4, 16 clients", count: 800, clients: 16, run: transact },
    { name: "S3 PutObject of 1 KiB, 4 clients", count: 300, clients: 4, run: () => putObject(`s${unique++}`, small) },
    { name: "S3 GetObject of 1 KiB, 4 clients", count: 600, clients: 4, run: () => getObject("small") },
    { name: "S3 PutObject of 8 MiB, 1 client", count: 8, clients: 1, run: () => putObject("large", large) },
    { name: "S3 GetObject of 8 MiB, 1 client", count: 12, clients: 1, run: () => getObject("large") },
    { name: "Step Functions executions, 8 clients", count: 200, clients: 8, run: execute },
  ];
}
