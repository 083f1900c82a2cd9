import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { describeRun } from "../../cli/run-description";
import type { CheckpointSummary, RunDetails } from "../../core/runs/shapes";
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
const content = "teams/research/cas/sha256/${content}";

async function attempts() {
  const ask = { FunctionName: process.env.RINGMASTER_CREDENTIALS_FUNCTION, Payload: JSON.stringify({ runId, runKey }) };
  const job = new LambdaClient({});
  const credentials = JSON.parse(Buffer.from((await job.send(new InvokeCommand(ask))).Payload).toString());
  const s3 = new S3Client({ credentials });
  const dynamodb = new DynamoDBClient({ credentials });
  const attempts = {
    "read its task": () => s3.send(new GetObjectCommand({ Bucket, Key: \`teams/research/runs/\${runId}/training/task.json\` })),
    "read the team's content": () => s3.send(new GetObjectCommand({ Bucket, Key: content })),
    "read another run": () => s3.send(new GetObjectCommand({ Bucket, Key: "teams/research/runs/${otherRun}/training/result.json" })),
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

/** A training module that writes a result of its own for its run, and then does not end. */
const liar = (result: string): string => `
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { losses, oneHot } from "@tensorflow/tfjs-core";
import { defineTraining } from "ringmaster";

const { RINGMASTER_BUCKET: Bucket, RINGMASTER_RUN_ID: runId, RINGMASTER_RUN_KEY: runKey } = process.env;
async function lie() {
  const ask = { FunctionName: process.env.RINGMASTER_CREDENTIALS_FUNCTION, Payload: JSON.stringify({ runId, runKey }) };
  const credentials = JSON.parse(Buffer.from((await new LambdaClient({}).send(new InvokeCommand(ask))).Payload).toString());
  const Key = \`teams/research/runs/\${runId}/training/result.json\`;
  await new S3Client({ credentials }).send(new PutObjectCommand({ Bucket, Key, Body: ${JSON.stringify(result)} }));
}
const lied = lie().catch(console.log);

export default defineTraining({
  model: ({ tf, outputs }) => tf.sequential({ layers: [tf.layers.dense({ units: outputs, inputShape: [6] })] }),
  loss: (labels, outputs) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    return losses.softmaxCrossEntropy(oneHot(labels, 3), outputs);
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

/** Reads a file of a running stack, which may remove it at any time. */
function existing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}

describe("user code", () => {
  const stack = TestStack.of("research");
  beforeAll(async () => {
    await stack.up();
    const csv = stack.file("toy.csv", toyCsv(300));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
    // The module's bundler looks for packages next to the module.
    symlinkSync(resolve(__dirname, "../../node_modules"), join(stack.directory, "node_modules"));
  });
  afterAll(() => stack.remove());

  function jobOf(name: string, source: string, { epochs = 3, workers = 1 } = {}): string {
    stack.file(`${name}.ts`, source);
    const job = toyJob(epochs, workers).replace("{ type: mlp, hidden: [16] }", `{ type: module, path: ${name}.ts }`);
    return stack.file(`${name}.yaml`, job);
  }

  const submit = async (file: string) => (await stack.json<{ runId: string }>(["submit", file])).runId;
  const watch = (runId: string) => stack.json<Shown>(["runs", "watch", runId], [0, 1, 3]);
  let other: Promise<Shown> | undefined;
  function otherRun(): Promise<Shown> {
    other ??= submit(stack.file("job.yaml", toyJob(1))).then(watch);
    return other;
  }

  it("reaches its own run and its team's content, and nothing else", async () => {
    const other = await otherRun();
    const runId = await submit(jobOf("greedy", greedy(other.runId, other.weightsSha256!), { epochs: 40 }));
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

    const secret = environment["AWS_SECRET_ACCESS_KEY"]!;
    expect(secret).toMatch(/^[\w-]{40}$/);
    const files = readdirSync(stack.data, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const holders = files
      .map((file) => join(file.parentPath, file.name))
      .filter((path) => existing(() => readFileSync(path))?.includes(secret));
    expect(holders).toEqual([]);
    const open = files.filter((file) => {
      const mode = existing(() => statSync(join(file.parentPath, file.name)))?.mode;
      return ((mode ?? 0) & 0o077) !== 0;
    });
    expect([statSync(stack.data).mode & 0o777, open.map(({ name }) => name)]).toEqual([0o700, []]);
    const { pid } = await stack.json<{ pid: number }>(["status"]);
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(secret);
  }, 240_000);

  it("ends a run with the reason where it writes no result, or a list, as its result; lists answer on", async () => {
    const ended = async (result: string) => {
      const runId = await submit(jobOf(`liar-${result.length}`, liar(result), { epochs: 200 }));
      const { run } = await watch(runId);
      expect(run).toMatchObject({ status: "failed", failure: { message: expect.stringContaining("result") } });
      expect(JSON.stringify(await stack.json(["runs", "list"]))).toContain(runId);
      expect(JSON.stringify(await stack.json(["runs", "search"]))).toContain(runId);
      expect(await stack.json(["runs", "delete", runId])).toBeDefined();
    };
    await Promise.all([ended('{"evil":true}'), ended("[]")]);
  }, 240_000);

  const model =
    "({ tf, outputs }) => tf.sequential({ layers: [tf.layers.dense({ units: outputs, inputShape: [6] })] })";
  it.each([
    {
      what: "a loss that throws at the first step, on two workers",
      name: "loss",
      source: `import { defineTraining } from "ringmaster";
export default defineTraining({ model: ${model}, loss: () => { throw new Error("no loss"); } });`,
      workers: 2,
      failure: /loss\(\) threw Error: no loss \(at loss\.ts:2:\d+\)/,
    },
    {
      what: "a loss that is not a number",
      name: "nan",
      source: `import { log, mean, sub } from "@tensorflow/tfjs-core";
import { defineTraining } from "ringmaster";
export default defineTraining({ model: ${model}, loss: (labels, outputs) =>
  mean(log(sub(outputs, 1000))) });`,
      workers: 2,
      code: "NON_FINITE_LOSS",
      failure: /the loss of step 1 is NaN: .*in the loss, by the operation Log\. \(at nan\.ts:4:8\)/,
    },
    {
      what: "a loss that returns a promise at a late step",
      name: "late",
      source: `import { losses, oneHot } from "@tensorflow/tfjs-core";
import { defineTraining } from "ringmaster";
let calls = 0;
const loss = (labels, outputs) => losses.softmaxCrossEntropy(oneHot(labels, 3), outputs);
const broken = async () => { throw new Error("never seen"); };
export default defineTraining({ model: ${model}, loss: (...all) => (++calls > 40 ? broken() : loss(...all)) });`,
      workers: 1,
      failure: /loss\(\) returned a promise; it must return a tensor, synchronously/,
    },
    {
      what: "a promise of the module that nothing awaits",
      name: "rejection",
      source: `import { defineTraining } from "ringmaster";
async function download() {
  await new Promise((resolve) => setTimeout(resolve, 1));
  throw new Error("no network");
}
void download();
export default defineTraining({ model: ${model} });`,
      workers: 1,
      failure: /outside of model\(\), loss and metrics: Error: no network \(at rejection\.ts:4:9\)/,
    },
  ])(
    "$what ends its run at once, with the user's line",
    async ({ name, source, workers, failure, code: failureCode = "USER_CODE" }) => {
      const { code, stdout } = await stack.run("submit", jobOf(name, source, { workers, epochs: 30 }), "--wait");
      const runId = /^run-\w+/.exec(stdout)![0];
      expect(code).toBe(1);
      expect(stdout).toMatch(failure);
      expect(stdout).toContain(`ringmaster runs logs ${runId}`);

      const { run, attempts, workers: records } = await stack.get<RunDetails>(`/training-runs/${runId}`);
      expect(run.failure).toMatchObject({ code: failureCode, message: expect.stringMatching(failure) });
      expect(attempts).toHaveLength(1);
      for (const record of records) expect(record.attempts.length).toBeLessThanOrEqual(1);
      const place = /\(at (.*)\)/.exec(run.failure!.message)?.[1];
      if (place !== undefined) expect((await stack.run("runs", "logs", runId)).stdout).toContain(place);
      if (name !== "late") return;
      // The first epoch's end, and the state before the step that failed.
      const { checkpoints } = await stack.json<{ checkpoints: readonly CheckpointSummary[] }>([
        ...["runs", "checkpoints", runId],
      ]);
      expect(checkpoints.map(({ finishedSteps }) => finishedSteps)).toEqual([3, 4]);
    },
    120_000,
  );
});
