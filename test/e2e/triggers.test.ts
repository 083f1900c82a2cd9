import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { describeRun } from "../../cli/run-description";
import type { InboxReport } from "../../core/datasets/inbox/shapes";
import type { ModelDriftReport } from "../../core/drift/shapes";
import type { MonitorWindow } from "../../core/monitors/shapes";
import type { HistoryEntry, ModelVersion } from "../../core/registry/model";
import type { Run } from "../../core/runs/shapes";
import type { CauseRecord } from "../../core/triggers/cause";
import type { TriggerState } from "../../core/triggers/trigger";
import { signatureOf } from "../../core/triggers/webhook";
import { runCampaign } from "../support/fuzz/campaign";
import { closeConnections } from "../support/fuzz/request";
import { createSources } from "../support/fuzz/sources";
import { sign } from "../support/sign";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";

type Shown = ReturnType<typeof describeRun>;
type ShownTrigger = TriggerState & { readonly causes: readonly CauseRecord[] };

describe("triggers", () => {
  const stack = new TestStack();
  let job: string;

  const push = (rows: number) =>
    stack.json<{ version: number }>([
      ...["datasets", "push", "toy", "--file", stack.file(`toy-${rows}.csv`, toyCsv(rows))],
      ...["--schema", stack.file("schema.yaml", toySchema)],
    ]);
  const watch = (runId: string) => stack.json<Shown>(["runs", "watch", runId], [0, 1, 3]);
  const show = (trigger: string) => stack.json<ShownTrigger>(["triggers", "show", trigger]);
  const runsOf = async (trigger: string) => {
    const { runs } = await stack.get<{ runs: readonly Run[] }>("/training-runs");
    return runs.filter(({ cause }) => cause?.trigger === trigger);
  };
  const runFor = (trigger: string, cause: string) =>
    until(`the run for ${cause}`, async () => (await runsOf(trigger)).find((run) => run.cause?.id === cause));
  const functionName = "ringmaster-fire-triggers";
  const invoke = async (event: unknown, FunctionName = functionName) => {
    const lambda = new LambdaClient(stack.connection);
    const { FunctionError } = await lambda.send(
      new InvokeCommand({ FunctionName, Payload: Buffer.from(JSON.stringify(event)) }),
    );
    lambda.destroy();
    expect(FunctionError).toBeUndefined();
  };

  beforeAll(async () => {
    await stack.up();
    job = stack.file("job.yaml", toyJob(3));
    await push(900);
    const first = await stack.json<{ runId: string }>(["submit", job]);
    await watch(first.runId);
    await stack.json(["models", "approve", "toy", "1"]);
    await watch(first.runId);
  });
  afterAll(() => stack.remove());

  it("a trigger is made once, and shown", async () => {
    const make = () => stack.json<{ created: boolean }>(["triggers", "create", "--on", "dataset:toy", "--job", job]);
    expect(await make()).toMatchObject({
      created: true,
      trigger: { name: "on-toy", enabled: true, createdBy: expect.any(String) },
    });
    expect(await make()).toMatchObject({ created: false });
    expect(await stack.run("triggers", "create", "--on", "dataset:toy", "--job", job, "--set", "seed=9")).toMatchObject(
      {
        code: 2,
        stderr: expect.stringContaining("already exists with other settings"),
      },
    );
    expect(await stack.run("triggers", "create", "--on", "cron(0 3 * * *)", "--job", job)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a cron expression has 6 fields"),
    });
    expect((await stack.run("triggers", "list")).stdout).toMatch(/on-toy\s+each version of toy/);
  });

  it("a second version of the data retrains, meets the champion at the gates, and waits for its approval", async () => {
    expect(await push(1_200)).toMatchObject({ version: 2 });
    const run = await runFor("on-toy", "dataset:toy@2");
    expect(run).toMatchObject({ dataset: { version: 2 }, createdBy: "trigger on-toy" });
    const waiting = await watch(run.runId);
    expect(waiting).toMatchObject({
      status: "completed",
      outcome: { decision: "registered" },
      cause: { trigger: "on-toy" },
    });
    const { versions } = await stack.json<{
      versions: { version: number; gate: { champion: number; checks: object[] } }[];
    }>(["models", "show", "toy"]);
    expect(versions[0]).toMatchObject({ version: 2, gate: { passed: true, champion: 1 } });
    const approved = await stack.json(["models", "approve", "toy", "2", "--wait"]);
    expect(approved).toMatchObject({ version: 2, stage: "production" });
  });

  it("the event of a version starts no second run, delivered three times, late and out of order", async () => {
    const { bucket, key } = {
      bucket: "ringmaster-data",
      key: (v: number) => `teams/default/datasets/toy/versions/${v}/manifest.json`,
    };
    const event = (version: number) => ({
      version: "0",
      id: "0c5a1b6e-2b5a-4d5e-9d0c-3a5b1c2d3e4f",
      "detail-type": "Object Created",
      source: "aws.s3",
      account: "000000000000",
      time: "2026-01-01T00:00:00Z",
      region: "us-east-1",
      resources: [`arn:aws:s3:::${bucket}`],
      detail: { version: "0", bucket: { name: bucket }, object: { key: key(version), size: 1 }, reason: "PutObject" },
    });
    for (const version of [2, 2, 1, 2]) await invoke(event(version));
    expect(await runsOf("on-toy")).toHaveLength(1);
    const { starts, causes } = await show("on-toy");
    expect(starts).toBe(1);
    expect(causes.map(({ id, state }) => [id, state])).toEqual(
      expect.arrayContaining([
        ["dataset:toy@2", "submitted"],
        ["dataset:toy@1", "skipped"], // it was there before the trigger
      ]),
    );
  });

  it("a finding of drift retrains once, put on the bus three times; a mild one is no cause for a trigger of critical ones", async () => {
    await stack.json(["triggers", "create", "--on", "drift:inputs:critical", "--job", job, "--set", "seed=11"]);
    const bus = new EventBridgeClient(stack.connection);
    const put = (severity: string, windowEnd: string) =>
      bus.send(
        new PutEventsCommand({
          Entries: [1, 2, 3].map(() => ({
            Source: "ringmaster",
            DetailType: "Drift Detected",
            Detail: JSON.stringify({ platform: "ringmaster", team: "default", monitor: "inputs", windowEnd, severity }),
          })),
        }),
      );
    await put("warning", "2026-01-01T00:00:00Z");
    await put("critical", "2026-01-01T01:00:00Z");
    const run = await runFor("on-inputs", "drift:inputs@2026-01-01T01:00:00.000Z");
    expect(run.dataset.version).toBe(2);
    await invoke({ source: "aws.events", "detail-type": "Scheduled Event" }); // the sweep finds nothing left
    expect(await runsOf("on-inputs")).toHaveLength(1);
    bus.destroy();
  });

  it("inferences that have drifted fill a window of a monitor, whose finding retrains once", async () => {
    const create = (...more: string[]) => stack.run("monitors", "create", "served", "--model", "toy", ...more);
    expect(await create("--every-rows", "100")).toMatchObject({ code: 0, stderr: "" });
    expect(await create("--every-rows", "100")).toMatchObject({ stdout: expect.stringContaining("already there") });
    expect(await create("--every-rows", "200")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("already exists with other settings"),
    });
    await stack.json(["triggers", "create", "--on", "drift:served", "--job", job, "--set", "seed=12"]);
    const rows = Array.from({ length: 150 }, (_row, i) => ({
      ...{ unit: `user-${i}`, at: new Date(Date.now() - i * 1_000).toISOString(), prediction: i % 3 },
      row: { x1: (i % 17) / 8 - 1, x2: 9 + (i % 5), x3: i % 3, colour: "red" },
    }));
    const file = stack.file("rows.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
    for (const [stored, known] of [
      [150, 0],
      [0, 150],
    ]) {
      expect(await stack.json(["models", "inferences", "toy", "--file", file])).toMatchObject({ stored, known });
    }
    const measured = () => stack.json<{ windows: readonly MonitorWindow[] }>(["monitors", "show", "served"]);
    const window = await until("a window", async () => (await measured()).windows[0]);
    expect(window).toMatchObject({ window: 1, rows: 150, severity: "critical", version: 2 });
    expect(window.drifted).toContain("x2");
    const run = await runFor("on-served", `drift:served@${window.end}`);
    for (let again = 0; again < 2; again += 1) {
      await invoke({ source: "aws.events", "detail-type": "Scheduled Event" }, "ringmaster-monitor-drift");
    }
    expect((await runsOf("on-served")).map(({ runId }) => runId)).toEqual([run.runId]);
    expect((await measured()).windows).toEqual([{ ...window, published: true }]);

    const since = await stack.json<ModelDriftReport>(["models", "drift", "toy", "--since", "1h"]);
    expect(since).toMatchObject({ version: 2, rows: { current: 150 }, severity: "critical" });
    const page = stack.file("window.html", "");
    const report = await stack.run("monitors", "report", "served", "--html", page, "--fail-on", "critical");
    expect([report.code, report.stdout]).toEqual([3, expect.stringContaining("x2")]);
    const browsed = await (await fetch(`${stack.url}/api/v1/pages/monitors/served`)).text();
    expect(browsed).toContain('href="../monitors/served/windows/1"');
    await stack.json(["monitors", "delete", "served"]);
    expect(await stack.json(["monitors", "list"])).toEqual({ monitors: [] });
  });

  it("a schedule fires by a clock that is put forward, once for each of its times", async () => {
    const make = () =>
      stack.json([
        ...["triggers", "create", "--on", "cron(0 3 * * ? *)", "--time-zone", "Europe/Berlin"],
        ...["--name", "nightly", "--job", job, "--set", "seed=13"],
      ]);
    await make();
    await make();
    const { next } = await stack.json<{ next: readonly string[] }>(["triggers", "show", "nightly"]);
    expect(await runsOf("nightly")).toEqual([]);
    const url = `${stack.connection.endpoint}/_ringmaster/clock`;
    const clock = async (method: "GET" | "POST", body?: string) => {
      const request = { method, url, service: "ringmaster", ...(body === undefined ? {} : { body }) };
      return fetch(url, { method, body, headers: await sign(request, stack.connection.credentials) });
    };
    const { now } = (await (await clock("GET")).json()) as { now: string };
    const body = JSON.stringify({ advanceSeconds: (Date.parse(next[0]!) - Date.parse(now)) / 1000 + 1 });
    expect((await fetch(url, { method: "POST", body })).status).toBe(403);
    const advance = async (text: string) => expect((await clock("POST", text)).status).toBe(200);
    await advance(body);
    const run = await runFor("nightly", `schedule:${next[0]}`);
    // A repetition of the Scheduler's event.
    const scheduledTime = next[0]!.replace(".000Z", "Z");
    for (let again = 0; again < 3; again += 1) {
      await invoke({ type: "trigger-schedule", team: "default", trigger: "nightly", scheduledTime });
    }
    expect((await runsOf("nightly")).map(({ runId }) => runId)).toEqual([run.runId]);
    expect((await clock("POST", '{"advanceSeconds":-1}')).status).toBe(400);

    // The next day nothing is new.
    await advance('{"advanceSeconds":86400}');
    const shown = await until("the cause without a run", async () => {
      const { stdout } = await stack.run("triggers", "show", "nightly");
      return stdout.includes("unchanged") ? stdout : undefined;
    });
    expect(shown).toMatch(new RegExp(`unchanged +${run.runId} +nothing was new`));
    expect((await runsOf("nightly")).map(({ runId }) => runId)).toEqual([run.runId]);
    await stack.json(["triggers", "delete", "nightly"]);
  });

  it("a raw file that is put into the inbox is a version, which retrains; one that cannot be says why", async () => {
    const s3 = new S3Client({ ...stack.connection, forcePathStyle: true });
    const put = (file: string, Body: string) =>
      s3.send(new PutObjectCommand({ Bucket: "ringmaster-data", Key: `teams/default/inbox/${file}`, Body }));
    await put("toy/march.csv", toyCsv(750));
    const run = await runFor("on-toy", "dataset:toy@3");
    expect(run).toMatchObject({ dataset: { version: 3 }, createdBy: "trigger on-toy" });
    await put("toy/again.csv", toyCsv(750)); // the same content is the same version
    await put("toy/april.csv", "x1,x2\n1,2\n");
    s3.destroy();
    const inbox = async () => {
      const { reports } = await stack.json<{ reports: readonly InboxReport[] }>(["datasets", "inbox", "toy"]);
      return reports.every(({ status }) => status !== "reading") && reports.length === 3 ? reports : undefined;
    };
    const reports = await until("the reports", inbox);
    expect(Object.fromEntries(reports.map(({ path, status, version }) => [path, [status, version]]))).toEqual({
      "toy/march.csv": ["taken", 3],
      "toy/again.csv": ["taken", 3],
      "toy/april.csv": ["refused", undefined],
    });
    expect((await stack.run("datasets", "inbox")).stdout).toMatch(
      /toy\/april\.csv[\s\S]*reason .*columns\.x3[\s\S]*next .*correct the file/,
    );
    const { id, updatedAt } = reports.find(({ status }) => status === "refused")!;
    await stack.json(["datasets", "inbox", "--retry", id]);
    await until("another try", async () => {
      const again = (await inbox())?.find((report) => report.id === id);
      return again?.status === "refused" && again.updatedAt > updatedAt ? again : undefined;
    });
    expect((await runsOf("on-toy")).map(({ cause }) => cause?.id)).toEqual(["dataset:toy@3", "dataset:toy@2"]);
  });

  it("a trigger is fired by hand, is disabled with a reason, and keeps its history when it is gone", async () => {
    expect(await stack.json<CauseRecord>(["triggers", "fire", "on-toy"])).toMatchObject({ state: "submitted" });
    await stack.json(["triggers", "disable", "on-toy", "--reason", "labels in doubt"]);
    await push(600);
    await until("the cause", async () => (await show("on-toy")).causes.find(({ id }) => id === "dataset:toy@4"));
    const shown = (await stack.run("triggers", "show", "on-toy")).stdout;
    expect(shown).toMatch(/RECEIVED\s+CAUSE\s+STATE\s+RUN\s+REASON/);
    expect(shown).toMatch(/changed by \S+ at 2/);
    expect(shown).toMatch(/dataset:toy@4\s+skipped.*labels in doubt/);
    await stack.json(["triggers", "delete", "on-toy"]);
    expect((await show("on-toy")).causes).toHaveLength(5);
    expect((await stack.run("triggers", "fire", "on-toy")).code).toBe(2);
    expect((await stack.run("triggers", "list")).stdout).not.toContain("on-toy");
  });

  it("a signed request fires a webhook's trigger once, and an unsigned one is refused", async () => {
    const file = stack.file(
      "hook.yaml",
      "name: hook\non: { type: webhook }\nstart: { job: job.yaml }\nconcurrency: skip\n",
    );
    const create = () => stack.run("triggers", "create", "-f", file, "--set", "seed=14");
    const [, secret = ""] = /secret ([0-9a-f]{64}) \(shown once\)/.exec((await create()).stdout) ?? [];
    expect((await create()).stdout).toMatch(/^trigger hook already exists: webhook, toy\n$/);
    const body = '{"branch":"main"}';
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const send = async (signature: string, path = "default/hook") => {
      const headers = { "x-ringmaster-timestamp": timestamp, "x-ringmaster-signature": signature };
      const url = `${stack.url}/api/v1/hooks/${path}`;
      const type = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", body, headers: { ...type, ...headers } });
      return [response.status, await response.json()];
    };
    const answers = [
      await send(signatureOf(secret, timestamp, body)),
      await send(signatureOf(secret, timestamp, body)),
    ];
    const [run] = await runsOf("hook");
    expect(answers).toEqual(answers.map(() => [202, { id: run!.cause!.id, state: "submitted", runId: run!.runId }]));
    for (const path of ["default/hook", "default/nobody", "other/hook"])
      expect(await send("sha256=0", path)).toMatchObject([401, { error: { code: "UNAUTHENTICATED" } }]);
    expect((await stack.run("triggers", "create", "--job", job)).stderr).toContain("on must be given");
    expect((await stack.run("triggers", "create", "--on", "webhook")).stderr).toContain("start.job must be given");
    expect((await stack.run("triggers", "create", "-f", "absent.yaml")).stderr).toContain("must be a readable file");
    await stack.json(["triggers", "delete", "hook"]);
  });

  it("a pipeline's run starts another pipeline once, with values of its cause", async () => {
    const [x, y] = [(text: string) => `\${${text}}`, JSON.stringify];
    const pipeline = (name: string, parameter: string) => {
      const steps = { count: { api: { operation: "listStudies" }, when: x(`parameters.${parameter} != ''`) } };
      return stack.file(
        `${name}.yaml`,
        y({ name, parameters: { [parameter]: { type: "string", default: "-" } }, steps }),
      );
    };
    await stack.json(["pipelines", "push", pipeline("second", "source")]);
    const parameters = { source: x("cause.pipelineRunId") };
    const file = stack.file(
      "chain.yaml",
      y({ name: "chain", on: { type: "pipeline", pipeline: "first" }, start: { pipeline: "second", parameters } }),
    );
    await stack.json(["triggers", "create", "-f", file]);
    const { run } = await stack.json<{ run: { pipelineRunId: string } }>([
      "pipelines",
      "run",
      pipeline("first", "unused"),
      "--wait",
    ]);
    const started = async () =>
      (await stack.get<{ items: { parameters: object; createdBy: string }[] }>("/pipelines/runs?pipeline=second"))
        .items;
    await until("the second pipeline's run", async () => ((await started()).length > 0 ? true : undefined));
    const detail = {
      platform: "ringmaster",
      team: "default",
      pipeline: "first",
      pipelineRunId: run.pipelineRunId,
      status: "succeeded",
      at: new Date().toISOString(),
    };
    await invoke({ "detail-type": "Pipeline Run Ended", detail });
    expect(await started()).toMatchObject([{ parameters: { source: run.pipelineRunId }, createdBy: "trigger chain" }]);
    const bad = stack.file(
      "bad.yaml",
      y({ name: "bad", on: { type: "webhook" }, start: { pipeline: "second", parameters: { sourc: 1 } } }),
    );
    const refused = await stack.run("triggers", "create", "-f", bad);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("must be a parameter of second: source"),
    ]);
  });

  it("promotes without a person under a policy that says so, but no version that a gate refuses", async () => {
    interface Toy {
      readonly model: { readonly production: number };
      readonly versions: readonly ModelVersion[];
      readonly history: readonly HistoryEntry[];
    }
    const toy = () => stack.json<Toy>(["models", "show", "toy"]);
    const policy = async (threshold: string) => {
      const text = `rules: { thresholds: { ${threshold} } }\napprovals: { required: 0 }\n`;
      const set = await stack.run("models", "policy", "set", "toy", stack.file("policy.yaml", text));
      expect(set).toMatchObject({ code: 0, stderr: expect.stringContaining("goes to production without a person") });
    };
    await policy("accuracy: 0.3");
    await stack.json(["triggers", "create", "--on", "dataset:toy", "--job", job, "--name", "unattended"]);
    await push(1_000);
    const run = await runFor("unattended", "dataset:toy@5");
    await watch(run.runId);
    const made = (await toy()).versions.find(({ runId }) => runId === run.runId)!;
    const promoted = await until("the promotion", async () => {
      const now = await toy();
      return now.model.production === made.version ? now : undefined;
    });
    expect(promoted.versions[0]).toMatchObject({
      stage: "production",
      approvals: [],
      approval: { policy: { by: [expect.any(String)] } },
    });
    expect(promoted.history.findLast(({ action }) => action === "promoted")).toMatchObject({
      version: made.version,
      by: expect.stringMatching(/^run /),
      reason: expect.stringMatching(/^approved by the policy \(revision \d+, set by \S+\)$/),
    });
    await policy("logLoss: 0.000001");
    await push(1_100);
    const refused = await watch((await runFor("unattended", "dataset:toy@6")).runId);
    expect(refused).toMatchObject({ status: "completed", outcome: { decision: "refused-by-gate" } });
    expect((await toy()).model.production).toBe(made.version);
  });

  it("random requests to every entry point get an answer, and none of them fails", async () => {
    const teams = ["red", "blue"].map((team) => ({ name: team, headers: { "x-ringmaster-team": team } }));
    const { endpoint, credentials } = stack.connection;
    const target = { api: stack.url, endpoint, keys: credentials };
    const sources = createSources(target, { teams, all: teams }, 1);
    const result = await runCampaign({ requests: 300, inFlight: 8, sources });
    closeConnections();
    expect([result.requests, result.failures]).toEqual([300, []]);
    expect((await stack.get<{ status: string }>("/health")).status).toBe("ok");
  }, 480_000);
});
