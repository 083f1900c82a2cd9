import { createHash } from "node:crypto";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { InvokeCommand, Lambda } from "@aws-sdk/client-lambda";
import { S3 } from "@aws-sdk/client-s3";
import { STS } from "@aws-sdk/client-sts";
import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { objectKeys } from "../../../core/object-keys";
import type { ContentPlace } from "../../../core/ports";
import type { TrainingAttempt } from "../../../core/runs/shapes";
import { functionNameIn } from "../../../platform/functions";
import { jobRoleName } from "../../../stack/iam";
import { openRunSession } from "../../../trainer-container/credentials/run-session";
import { createLambdaMetricSink } from "../../../trainer-container/telemetry/send-thread";
import { runOf } from "../../support/fixtures";
import { startPlatform, type TestPlatform } from "./platform";

describe("the credentials of a run's trainers", () => {
  let platform: TestPlatform;
  let s3: S3;
  let lambda: Lambda;
  let runKey: string;
  const environment = { ...process.env };
  const content = "a".repeat(64);
  const attempt: TrainingAttempt = {
    ...{ attempt: 1, market: "spot" as const, placement: "spread" as const, workers: 1, status: "submitted" as const },
    startedAt: new Date().toISOString(),
  };
  const own = "teams/vision/runs/run-own";

  const sessionFor = async (runId: string) => {
    const key = await platform.keys.keyOf(runId);
    return openRunSession(platform.jobEnvironment(runId, key), () => undefined);
  };
  const notifyOfEnd = async (runId: string) => {
    const { FunctionError, Payload } = await new Lambda(platform.connection).invoke({
      FunctionName: functionNameIn("ringmaster", "end-sessions"),
      Payload: JSON.stringify({ id: "event", "detail-type": "Training Run Ended", detail: { runId } }),
    });
    expect([FunctionError, Payload?.transformToString()]).toEqual([undefined, "null"]);
  };
  const put = (Key: string, more: object = {}) =>
    s3.putObject({ Bucket: platform.config.bucket, Key, Body: "x", ...more });
  const erase = async (Key: string) => {
    const { VersionId } = await platform.s3.headObject({ Bucket: platform.config.bucket, Key });
    return s3.deleteObject({ Bucket: platform.config.bucket, Key, VersionId });
  };
  const get = (Key: string) => s3.getObject({ Bucket: platform.config.bucket, Key });

  beforeAll(async () => {
    platform = await startPlatform();
    const open = { team: "vision", status: "running" } as const;
    for (const runId of ["run-own", "run-other"]) await platform.createRun(runOf(runId, open));
    await platform.createRun(runOf("run-ended", { ...open }));
    await platform.runs.close("run-ended", { status: "killed", at: "2026-01-01T00:00:00.000Z" });
    const Bucket = platform.config.bucket;
    for (const Key of [
      `teams/vision/cas/sha256/${content}`,
      "teams/vision/features/f/manifest.json",
      "teams/vision/runs/run-other/checkpoints/1/manifest.json",
      "teams/vision/runs/run-other/tensors/1/t",
      `teams/speech/cas/sha256/${content}`,
      `${own}/training/task.json`,
    ]) {
      await platform.s3.putObject({ Bucket, Key, Body: "what was there" });
    }
    // The trainer's clients find the job's own keys in Batch's variables.
    Object.assign(process.env, platform.jobEnvironment("run-own", "x"));
    const { client } = await sessionFor("run-own");
    runKey = await platform.keys.keyOf("run-own");
    const connection = { ...platform.connection, ...client };
    s3 = new S3(connection);
    lambda = new Lambda(connection);
  });
  afterAll(async () => {
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    await platform.stop();
  });

  it("may access its own prefix, and its team's content and features", async () => {
    await put(`${own}/training/result.json`);
    await get(`${own}/training/task.json`);
    await get(`teams/vision/cas/sha256/${content}`);
    await get("teams/vision/features/f/manifest.json");
    await get("teams/vision/runs/run-other/tensors/1/t");
    await s3.deleteObject({ Bucket: platform.config.bucket, Key: `${own}/training/result.json` });
    const listed = await s3.listObjectsV2({ Bucket: platform.config.bucket, Prefix: `${own}/` });
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual([`${own}/training/task.json`]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["write an export of its model", () => put(`${own}/exports/onnx-1.json`, { IfNoneMatch: "*" })],
    ["write an evaluation of its model", () => put("teams/vision/evaluations/run-own/h/result.json")],
    ["put new content", () => put(`teams/vision/cas/sha256/${"b".repeat(64)}`, { IfNoneMatch: "*" })],
    ["write tensors of another run", () => put("teams/vision/runs/run-other/tensors/1/t")],
    ["erase tensors of another run", () => erase("teams/vision/runs/run-other/tensors/1/t")],
    ["erase anything but tensors", () => erase(`${own}/training/task.json`)],
    ["pin tensors", () => put(`${own}/pins/run-other/1.json`)],
    [
      "assume the run role",
      () =>
        new STS({ ...platform.connection, credentials: platform.credentialsOf(jobRoleName("ringmaster")) }).assumeRole({
          RoleArn: platform.config.runRoleArn,
          RoleSessionName: "run-other",
        }),
    ],
  ])("do not let it %s", async (_what, attempt) => {
    await expect(attempt()).rejects.toMatchObject({ name: "AccessDenied" });
  });

  it("may repair the tensors of its checkpoints, and erase them", async () => {
    const store = createObjectStore(s3, platform.config.bucket, "teams/vision/", { deniedIsMissing: true });
    const body = Buffer.alloc(9 * 1024 * 1024, "tensor");
    const digest = createHash("sha256").update(body).digest("hex");
    const key = objectKeys.tensors("run-own", 1, digest);
    const Key = `teams/vision/${key}`;
    await platform.s3.putObject({ Bucket: platform.config.bucket, Key, Body: "damaged" });
    await expect(store.getContent(digest, key)).rejects.toMatchObject({ code: "CORRUPT_OBJECT" });
    async function* open() {
      yield body;
    }
    await store.putContentStream(open, undefined, async () => ({ key, stored: false }));
    expect(await store.getContent(digest, key)).toHaveLength(body.length);
    await store.erase(key);
    expect(await store.size(key)).toBeUndefined();
  });

  it("get 403 for missing objects, which the trainer's store treats as missing", async () => {
    await expect(get(`${own}/nothing`)).rejects.toMatchObject({ name: "AccessDenied" });
    const store = createObjectStore(s3, platform.config.bucket, "teams/vision/", { deniedIsMissing: true });
    expect(await store.find("runs/run-own/nothing")).toBeUndefined();
    expect(await store.size("runs/run-own/nothing")).toBeUndefined();
    async function* large() {
      for (let i = 0; i < 3; i++) yield Buffer.alloc(4 * 1024 * 1024, i);
    }
    const place: ContentPlace = async ({ sha256 }) => ({
      key: objectKeys.tensors("run-own", 1, sha256),
      stored: false,
    });
    const streamed = await store.putContentStream(large, undefined, place);
    expect(await store.putContentStream(large, undefined, place)).toEqual(streamed);
    const { key } = await place(streamed);
    expect((await store.getContent(streamed.sha256, key)).byteLength).toBe(12 * 1024 * 1024);
  });

  it("may invoke only ingestion, with their run's key", async () => {
    const nameOf = (name: "ingest-metrics" | "promote" | "run-credentials") => functionNameIn("ringmaster", name);
    const batch = { series: [{ metric: "loss", steps: [1], values: [1], times: [1] }] };
    const sink = createLambdaMetricSink(lambda, nameOf("ingest-metrics"), runKey);
    await sink.send({ runId: "run-own", ...batch });
    await expect(sink.send({ runId: "run-other", ...batch })).rejects.toThrow(
      "run key in the request is not the key of run run-other",
    );
    const measured = [{ metric: "test/accuracy", steps: [1_000], values: [1], times: [1] }];
    await expect(sink.send({ runId: "run-own", series: measured })).rejects.toThrow('metric "test/accuracy" of run');
    const late = createLambdaMetricSink(lambda, nameOf("ingest-metrics"), await platform.keys.keyOf("run-ended"));
    await expect(late.send({ runId: "run-ended", ...batch })).rejects.toThrow(
      "metrics were refused: run run-ended is killed",
    );
    for (const name of ["promote", "run-credentials"] as const) {
      const invoke = new InvokeCommand({ FunctionName: nameOf(name), Payload: "{}" });
      await expect(lambda.send(invoke)).rejects.toMatchObject({ name: "AccessDeniedException" });
    }
  });

  it("may read their own identity", async () => {
    const { client, isRefused } = await sessionFor("run-own");
    expect(await isRefused()).toBe(false);
    const { Arn } = await new STS({ ...platform.connection, ...client }).getCallerIdentity({});
    expect(Arn).toBe("arn:aws:sts::000000000000:assumed-role/ringmaster-run-us-east-1/run-own");
  });

  it.each([
    ["another run's key", "run-own", "run-other", "is not the key of run run-own"],
    ["a run that is not there", "run-none", "run-own", "is not the key of run run-none"],
    ["a run that has ended", "run-ended", "run-ended", "it has ended"],
  ])("are not given out for %s", async (_what, runId, keyOf, message) => {
    const key = await platform.keys.keyOf(keyOf);
    const { client, isRefused } = openRunSession(platform.jobEnvironment(runId, key), () => undefined);
    await expect(client.credentials?.()).rejects.toThrow(message);
    expect(await isRefused()).toBe(true);
  });

  describe("with the key of an evaluation", () => {
    const evaluation = "teams/vision/evaluations/run-own";
    const ownOf = (key: string) =>
      openRunSession({ ...platform.jobEnvironment("run-own", key), RINGMASTER_EVALUATION: "h" }, () => undefined);
    let evaluator: S3;
    const write = (Key: string) => evaluator.putObject({ Bucket: platform.config.bucket, Key, Body: "x" });
    const read = (Key: string) => evaluator.getObject({ Bucket: platform.config.bucket, Key });
    beforeAll(async () => {
      const { client } = ownOf(await platform.keys.keyOf("run-own", "evaluation"));
      evaluator = new S3({ ...platform.connection, ...client });
    });

    it("may read content and features, and write their evaluation", async () => {
      await write(`${evaluation}/h/result.json`);
      await read(`${evaluation}/h/result.json`);
      await read(`teams/vision/cas/sha256/${content}`);
      await read("teams/vision/features/f/manifest.json");
    });

    it.each<[string, () => Promise<unknown>]>([
      ["write another run's evaluation", () => write("teams/vision/evaluations/run-other/h/result.json")],
      ["write a result of training", () => write(`${own}/training/result.json`)],
      ["write content", () => write(`teams/vision/cas/sha256/${"c".repeat(64)}`)],
      ["read another team's content", () => read(`teams/speech/cas/sha256/${content}`)],
      ["read a run's training", () => read(`${own}/training/task.json`)],
    ])("may not %s", async (_what, attempt) => {
      await expect(attempt()).rejects.toMatchObject({ name: "AccessDenied" });
    });

    it("are not given out for the key of the training", async () => {
      await expect(ownOf(runKey).client.credentials?.()).rejects.toThrow("is not the key of run run-own");
    });
  });

  it("end with their run before they expire, and those of other runs do not", async () => {
    await platform.createRun(runOf("run-ends", { team: "vision", status: "running", phase: "LaunchTraining" }));
    expect(await platform.runs.beginAttempt("run-ends", attempt)).toBe(true);
    const { client } = await sessionFor("run-ends");
    const credentials = await client.credentials!();
    const Key = "teams/vision/runs/run-ends/training/late.json";
    const Bucket = platform.config.bucket;
    const connection = { ...platform.connection, credentials };
    const store = new S3(connection);
    const gang = { pk: "GANG#run-ends", sk: "HEAD" };
    const FunctionName = functionNameIn("ringmaster", "ingest-metrics");
    const uses: readonly (() => Promise<unknown>)[] = [
      () => store.putObject({ Bucket, Key, Body: "x" }),
      () => store.getObject({ Bucket, Key }),
      () => store.getObject({ Bucket, Key: `teams/vision/cas/sha256/${content}` }),
      () => store.listObjectsV2({ Bucket, Prefix: "teams/vision/runs/run-ends/" }),
      () => store.deleteObject({ Bucket, Key }),
      () =>
        createDocumentClient(new DynamoDB(connection)).send(
          new PutCommand({ TableName: platform.config.tables.gangs, Item: gang }),
        ),
      () => new Lambda(connection).invoke({ FunctionName, Payload: "{}" }),
    ];
    const other = () => get(`${own}/training/task.json`);
    for (const use of uses) await use();
    for (const runId of ["run-ends", "run-none", ""]) await notifyOfEnd(runId);
    for (const use of uses) await use();
    await platform.runs.close("run-ends", { status: "completed", at: new Date().toISOString() });
    await notifyOfEnd("run-ends");
    await notifyOfEnd("run-ends");
    for (const use of uses) {
      await expect(use()).rejects.toMatchObject({ name: expect.stringMatching(/^AccessDenied(Exception)?$/) });
    }
    await other();
    // IAM lets everybody ask for their own identity.
    await new STS(connection).getCallerIdentity({});
    await expect(platform.s3.getObject({ Bucket, Key })).rejects.toMatchObject({ name: "NoSuchKey" });
  });

  it("end after 15 minutes; foreign and changed credentials are refused", async () => {
    const { client } = await sessionFor("run-own");
    const credentials = await client.credentials!();
    const late = new S3({ ...platform.connection, credentials });
    const ask = () => late.getObject({ Bucket: platform.config.bucket, Key: `${own}/training/task.json` });
    await ask();
    platform.clock.offset = 900_000;
    await expect(ask()).rejects.toMatchObject({ name: "ExpiredToken" });
    const table = createDocumentClient(new DynamoDB({ ...platform.connection, credentials }));
    const get = new GetCommand({ TableName: platform.config.tables.gangs, Key: { pk: "GANG#run-own", sk: "HEAD" } });
    await expect(table.send(get)).rejects.toMatchObject({ name: "ExpiredTokenException" });
    platform.clock.offset = 0;
    const [body = "", mac] = credentials.sessionToken.split(".");
    const session = { ...JSON.parse(Buffer.from(body, "base64url").toString()), policy: undefined };
    const forged = `${Buffer.from(JSON.stringify(session)).toString("base64url")}.${mac}`;
    const forger = new DynamoDB({
      ...platform.connection,
      credentials: { ...credentials, sessionToken: forged },
    });
    await expect(createDocumentClient(forger).send(get)).rejects.toMatchObject({ name: "UnrecognizedClientException" });
  });
});
