import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { describeRun } from "../../cli/commands/runs";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";

type Shown = ReturnType<typeof describeRun>;

/** A training module that tries what it should not, with all that its process holds, and trains on. */
const greedy = (otherRun: string, content: string): string => `
import { BatchClient, TerminateJobCommand } from "@aws-sdk/client-batch";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { SFNClient, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { defineTraining } from "ringmaster";

const { RINGMASTER_BUCKET: Bucket, RINGMASTER_RUN_ID: runId, RINGMASTER_RUN_KEY: runKey } = process.env;
const content = "teams/default/cas/sha256/${content}";

async function attempts() {
  const ask = { FunctionName: process.env.RINGMASTER_CREDENTIALS_FUNCTION, Payload: JSON.stringify({ runId, runKey }) };
  const job = new LambdaClient({});
  const credentials = JSON.parse(Buffer.from((await job.send(new InvokeCommand(ask))).Payload).toString());
  const s3 = new S3Client({ credentials });
  const dynamodb = new DynamoDBClient({ credentials });
  const attempts = {
    "read its task": () => s3.send(new GetObjectCommand({ Bucket, Key: \`teams/default/runs/\${runId}/training/task.json\` })),
    "read the team's content": () => s3.send(new GetObjectCommand({ Bucket, Key: content })),
    "read another run": () => s3.send(new GetObjectCommand({ Bucket, Key: "teams/default/runs/${otherRun}/training/result.json" })),
    "read another team": () => s3.send(new GetObjectCommand({ Bucket, Key: "teams/speech/cas/sha256/${content}" })),
    "list the bucket": () => s3.send(new ListObjectsV2Command({ Bucket })),
    "overwrite content": () => s3.send(new PutObjectCommand({ Bucket, Key: content, Body: "poison" })),
    "delete content": () => s3.send(new DeleteObjectCommand({ Bucket, Key: content })),
    "read the catalog": () =>
      dynamodb.send(new GetItemCommand({ TableName: "ringmaster-Catalog", Key: { pk: { S: "RUN#${otherRun}" }, sk: { S: "KEY" } } })),
    "promote a model": () =>
      new LambdaClient({ credentials }).send(new InvokeCommand({ FunctionName: "ringmaster-promote", Payload: "{}" })),
    "end a job": () => new BatchClient({}).send(new TerminateJobCommand({ jobId: "any", reason: "mine" })),
    "stop an execution": () =>
      new SFNClient({}).send(
        new StopExecutionCommand({ executionArn: "arn:aws:states:us-east-1:000000000000:execution:ringmaster-training-run:${otherRun}" }),
      ),
    "write by its job's own keys": () => new S3Client({}).send(new PutObjectCommand({ Bucket, Key: content, Body: "poison" })),
  };
  const outcomes = {};
  for (const [name, attempt] of Object.entries(attempts)) {
    outcomes[name] = await attempt().then(() => "done", (error) => error.name);
  }
  console.log("OUTCOMES " + JSON.stringify(outcomes));
}
attempts().catch((error) => console.log("OUTCOMES " + JSON.stringify({ failed: String(error) })));

export default defineTraining({
  model: ({ tf, inputShape, outputs }) => {
    const input = tf.input({ shape: [...inputShape] });
    return tf.model({ inputs: input, outputs: tf.layers.dense({ units: outputs }).apply(input) });
  },
});
`;

/** The run's key, read with the owner's own keys. */
async function keyOf(runId: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const client = new DynamoDBClient({
    endpoint: environment["AWS_ENDPOINT_URL"],
    region: environment["AWS_REGION"],
    credentials: {
      accessKeyId: environment["AWS_ACCESS_KEY_ID"]!,
      secretAccessKey: environment["AWS_SECRET_ACCESS_KEY"]!,
    },
  });
  const Key = { pk: { S: `RUN#${runId}` }, sk: { S: "KEY" } };
  const { Item } = await client.send(new GetItemCommand({ TableName: "ringmaster-Catalog", Key }));
  expect(Item?.["runKey"]?.S).toMatch(/^[0-9a-f]{64}$/);
  return Item!["runKey"]!.S!;
}

/** All that functions, trainers and the stack have written into logs. */
function logsOf(data: string): string {
  const files = readdirSync(join(data, "logs"), { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const paths = [...files.map((file) => join(file.parentPath, file.name)), join(data, "stack.log")];
  const text = paths.map((path) => readFileSync(path, "utf8")).join("\n");
  expect(text).toContain("OUTCOMES");
  return text;
}

it("user code reaches its own run and its team's content, and nothing else", async () => {
  const stack = new TestStack();
  try {
    await stack.up();
    const csv = stack.file("toy.csv", toyCsv(300));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
    const submit = async (file: string) => (await stack.json<{ runId: string }>(["submit", file])).runId;
    const watch = (runId: string) => stack.json<Shown>(["runs", "watch", runId], [0, 1, 3]);

    const other = await watch(await submit(stack.file("job.yaml", toyJob(1))));
    // The module's bundler looks for packages beside the module.
    symlinkSync(resolve(__dirname, "../../node_modules"), join(stack.directory, "node_modules"));
    stack.file("greedy.ts", greedy(other.runId, other.weightsSha256!));
    const job = toyJob(40).replace("{ type: mlp, hidden: [16] }", "{ type: module, path: greedy.ts }");
    const runId = await submit(stack.file("greedy.yaml", job.replace("workers: 2", "workers: 1")));
    await watch(runId);
    const outcomes = await until("what the module came to", async () => {
      const { stdout } = await stack.run("runs", "logs", runId);
      return /OUTCOMES (\{.*\})/.exec(stdout)?.[1];
    });
    expect(JSON.parse(outcomes)).toEqual({
      "read its task": "done",
      "read the team's content": "done",
      "read another run": "AccessDenied",
      "read another team": "AccessDenied",
      "list the bucket": "AccessDenied",
      "overwrite content": "AccessDenied",
      "delete content": "AccessDenied",
      "read the catalog": "AccessDeniedException",
      "promote a model": "AccessDeniedException",
      "end a job": "AccessDeniedException",
      "stop an execution": "AccessDeniedException",
      "write by its job's own keys": "AccessDenied",
    });
    const environment = await stack.json<Record<string, string>>(["env"]);
    expect(logsOf(stack.data)).not.toContain(await keyOf(runId, environment));
  } finally {
    await stack.remove();
  }
}, 240_000);
