import { SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import type { describeRun } from "../../cli/run-description";
import type { Awaited } from "../../cli/waiting";
import type { HistoryEntry, ModelVersion } from "../../core/registry/model";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";
import { isSigned, Receiver } from "./receiver";

type Shown = ReturnType<typeof describeRun> & { readonly awaited: readonly Awaited[] };
interface Notice {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly metrics: Readonly<Record<string, number>> };
}
interface Version {
  readonly version: ModelVersion;
}

const policy = `rules:
  thresholds: { accuracy: 0.3 }
  noRegression: { tolerance: 0.01 }
  latency: { p99Ms: 60000 }
  slices: [{ column: colour, metric: accuracy, worst: 0.2 }]
  checks: [{ name: review, kind: command, command: [./review.sh] }]
approvals: { approvers: [grace, alan], notTheSubmitter: true }
`;

/** A check's command: fails unless every file next to the candidate has its digest. */
const checkDownloads = `
const { readFileSync } = require("node:fs");
const { RINGMASTER_CANDIDATE: candidate, RINGMASTER_CANDIDATE_DIRECTORY: directory } = process.env;
const { files } = JSON.parse(readFileSync(candidate));
const digest = (file) => require("node:crypto").createHash("sha256").update(readFileSync(file)).digest("hex");
if (files.some(({ name, sha256 }) => digest(directory + "/" + name) !== sha256)) throw new Error("damaged");
console.log("downloaded " + files.map(({ name }) => name).join(", "));
`;

/** A model's life under a policy: what has to be shown and who has to agree, whatever its jobs say, from the first version to the rollback and beyond. */
describe("a model that declares a policy", () => {
  const stack = new TestStack();
  const receiver = new Receiver(2);
  const write = (name: string, more: (job: string) => string) =>
    stack.file(name, more(toyJob(4).replace(/evaluation:.*/, "evaluation: {}")));
  const submit = (file: string, expected: readonly number[] = [0]) =>
    stack.json<Shown>(["submit", file, "--wait"], expected);
  const watch = (runId: string) => stack.json<Shown>(["runs", "watch", runId], [0, 1, 3]);
  const approve = (by: string, version: number) =>
    stack.as<Version>(by, "POST", `/models/toy/versions/${version}/approvals`, {
      decision: "approved",
      reason: "seen",
    });
  const answer = (version: number) =>
    stack.as<Version>("ci", "POST", `/models/toy/versions/${version}/checks/review`, {
      passed: true,
      evidence: "fine",
    });
  const toProduction = (version: number) =>
    stack.as<Version>("ada", "PUT", `/models/toy/versions/${version}/stage`, { stage: "production" });
  const champion = async () => (await stack.get<{ version: number }>("/models/toy/production")).version;

  beforeAll(async () => {
    await stack.up("--allow-loopback-hooks");
    await stack.requireTokens("ada", "grace", "alan", "mallory", "ci", "shop");
    const csv = stack.file("toy.csv", toyCsv(900));
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", stack.file("schema.yaml", toySchema)]);
    const url = await receiver.listen();
    await stack.json(["notify", "set", "--url", `${url}/hook`, "--topic", "--events", "run.completed,approval.needed"]);
    const sns = stack.client(SNSClient);
    const { topicArn: TopicArn } = await stack.json<{ topicArn: string }>(["notify", "show"]);
    await sns.send(new SubscribeCommand({ TopicArn, Protocol: "http", Endpoint: `${url}/sns` }));
    await stack.as("ada", "POST", "/models", { name: "toy" });
    await stack.json([
      "models",
      "policy",
      "set",
      "toy",
      stack.file("policy.yaml", policy),
      "--reason",
      "goes to users",
    ]);
  });
  afterAll(async () => {
    await stack.remove();
    await receiver.close();
  });

  it("waits for the check and then for a person, and says by which commands", async () => {
    const first = await stack.run(
      "submit",
      write("first.yaml", (job) => job),
      "--wait",
    );
    expect(first.code).toBe(0);
    expect(first.stdout).toContain(
      "waiting for check review, which a person runs: ringmaster models check toy 1 --name review -- ./review.sh",
    );
    expect(first.stdout).toMatch(
      /waiting for an approval \(from grace, alan; not from the submitter, .+\): ringmaster models approve toy 1/,
    );
    const gate = (await stack.get<Version>("/models/toy/versions/1")).version.gate!;
    expect(gate.checks.map(({ gate: name, passed, pending }) => [name, passed, pending])).toEqual([
      ["threshold", true, undefined],
      ["worst-slice", true, undefined],
      ["latency", true, undefined],
      ["check", false, true],
    ]);
    // Nobody is faster than the check.
    expect(await approve("grace", 1)).toMatchObject({ status: 409, body: { error: { code: "GATE_NOT_PASSED" } } });
    const checked = await stack.run(
      "models",
      "check",
      "toy",
      "1",
      "--name",
      "review",
      "--download",
      "--",
      process.execPath,
      "-e",
      checkDownloads,
    );
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("gates passed") });
    expect(checked.stdout).toMatch(/^downloaded weights.safetensors, topology.json$/m);
    expect(await approve("mallory", 1)).toMatchObject({ status: 403, body: { error: { code: "NOT_AN_APPROVER" } } });
    expect((await approve("grace", 1)).status).toBe(200);
    expect(await watch(first.stdout.split("\n")[0]!)).toMatchObject({
      outcome: { decision: "registered", version: 1 },
      awaited: [],
    });
    await until("the promotion", async () => ((await champion()) === 1 ? true : undefined));
  });

  it("notifies the team of each wait and of the run's end, signed, once an event and channel", async () => {
    const accepted = await until("the run's end", async () => {
      const all = [receiver.accepted("/hook"), receiver.accepted("/sns")];
      return all.every(({ length }) => length >= 3) ? all : undefined;
    });
    const [webhooks, messages] = accepted.map((each) =>
      each
        .map(({ path, body }) => JSON.parse(path === "/sns" ? JSON.parse(body).Message : body) as Notice)
        // A refused request is sent again later.
        .sort((one, other) => (one.timestamp < other.timestamp ? -1 : 1)),
    );
    expect(webhooks!.map(({ type, data }) => [type, data.version, data.checks, data.decision])).toEqual([
      ["approval.needed", 1, ["review"], undefined],
      ["run.completed", 1, undefined, "registered"],
      ["approval.needed", 1, [], undefined],
    ]);
    expect(webhooks![2]!.data).toMatchObject({
      approvers: ["grace", "alan"],
      commands: { approve: "ringmaster models approve toy 1" },
    });
    expect(webhooks![1]!.data.metrics["test/accuracy"]).toBeGreaterThan(0.3);
    expect(messages).toEqual(webhooks);

    const key = (await stack.run("notify", "key")).stdout.trim();
    const hooks = receiver.received.filter(({ path }) => path === "/hook");
    expect(hooks.map((each) => [isSigned(each, key), each.headers["webhook-id"]])).toEqual(
      hooks.map(({ body }) => [true, JSON.parse(body).id]),
    );
    const { items } = await stack.json<{ items: readonly { channel: string; status: string }[] }>([
      ...["notify", "deliveries"],
    ]);
    expect(items.map(({ channel, status }) => `${channel} ${status}`).sort()).toEqual(
      ["topic delivered", "webhook delivered"].flatMap((each) => [each, each, each]),
    );
    // The first was refused twice; the bytes and the id of its repetitions are the same.
    expect(receiver.received.filter(({ status }) => status === 500)).toHaveLength(2);
    expect(receiver.received).toHaveLength(8);
  });

  it("is quiet once the notifications are removed, and refuses a URL that is none of a receiver", async () => {
    expect(await stack.run("notify", "remove")).toMatchObject({ code: 0 });
    const refused = await stack.run("notify", "test");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("ringmaster notify set --url")]);
    for (const [args, rule] of [
      [["--url", "https://10.0.0.1/"], "10.0.0.1 is no public address"],
      [["--url", "ftp://example.com/"], "it must be an https URL"],
      [["--url", `${stack.url}/api/v1/models`], "is the stack's own"],
      [["--url", stack.connection.endpoint.replace("127.0.0.1", "127.1")], "is the stack's own"],
      [["--events", "run.finished"], "must be of run.completed, run.failed"],
      [[], "at least one must be given"],
    ] as const) {
      const { code, stderr } = await stack.run("notify", "set", ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(rule)]);
    }
  });

  it("refuses a check whose hook would call the stack itself", async () => {
    for (const url of [stack.url, stack.connection.endpoint.replace("127.0.0.1", "localhost.")]) {
      const hooked = policy.replace("checks: [", `checks: [{ name: own, kind: http, url: "${url}/" }, `);
      const { code, stderr } = await stack.run("models", "policy", "set", "toy", stack.file("hooked.yaml", hooked));
      expect([code, stderr]).toEqual([2, expect.stringMatching(/rules\.checks\[0\]\.url.*is the stack's own/)]);
    }
  });

  it("promotes the next, which is no worse on the same rows", async () => {
    const second = await submit(write("second.yaml", (job) => job.replace("seed: 3", "seed: 4")));
    expect(second.awaited.map(({ kind }) => kind)).toEqual(["check", "approval"]);
    const { gate } = (await answer(2)).body.version;
    expect(gate).toMatchObject({ passed: true, champion: 1 });
    expect(gate!.checks.find((check) => check.gate === "no-regression")).toMatchObject({
      passed: true,
      interval: { confidence: 0.95, rows: 90 },
    });
    await approve("alan", 2);
    expect(await watch(second.runId)).toMatchObject({ outcome: { decision: "registered", version: 2 } });
    await until("the promotion", async () => ((await champion()) === 2 ? true : undefined));
  });

  it("refuses a regression, whatever its job would allow", async () => {
    const file = write("worse.yaml", (job) =>
      job
        .replace("learningRate: 0.01", "learningRate: 0.000001")
        .replace("evaluation: {}", "evaluation: { regressionTolerance: 1 }"),
    );
    const worse = await submit(file, [3]);
    expect(worse.outcome).toMatchObject({ decision: "refused-by-gate", version: 3 });
    const { gate } = (await stack.get<Version>("/models/toy/versions/3")).version;
    const regression = gate!.checks.find((check) => check.gate === "no-regression")!;
    expect(regression).toMatchObject({ passed: false });
    expect(regression.evidence).toMatch(
      /regression: .*ignored, because the model's rule is stricter: the job's regressionTolerance 1/,
    );
    expect(await approve("grace", 3)).toMatchObject({ status: 409, body: { error: { code: "GATE_NOT_PASSED" } } });
    expect(await toProduction(3)).toMatchObject({ status: 409, body: { error: { code: "GATE_NOT_PASSED" } } });
    expect(await champion()).toBe(2);
  });

  it("is rolled back, and what went does not come back upon what was said before", async () => {
    const back = await stack.json<ModelVersion>(["models", "rollback", "toy", "--from", "2", "--reason", "slow"]);
    expect(back).toMatchObject({ version: 1, stage: "production" });
    expect(await toProduction(2)).toMatchObject({ status: 409, body: { error: { code: "NOT_APPROVED" } } });
    expect(await champion()).toBe(1);
  });

  it("is tried on some of the users first, and nobody goes past the test", async () => {
    expect((await stack.as("ada", "PUT", "/models/toy/versions/2/stage", { stage: "canary" })).status).toBe(200);
    await stack.json(["models", "traffic", "set", "toy", "--canary", "2=0.5", "--metric", "bought", "--effect", "0.2"]);
    const { epoch } = (await stack.as<{ epoch: number }>("shop", "POST", "/models/toy/route", { units: ["u1"] })).body;
    const lines = '{"unit": "u2", "value": 0}\n{"unit": "u3", "value": 1}\n';
    const report = [
      "models",
      "outcomes",
      "toy",
      "u1=1",
      "--epoch",
      String(epoch),
      "--file",
      stack.file("o.jsonl", lines),
    ];
    expect(await stack.json(report)).toEqual({ counted: 3, repeated: 0, stale: 0, decisions: [] });
    expect(await stack.json(report)).toMatchObject({ counted: 0, repeated: 3 });
    expect((await approve("grace", 2)).status).toBe(200);
    expect(await toProduction(2)).toMatchObject({ status: 409, body: { error: { code: "CANARY_UNDER_TEST" } } });
    // Ended by hand: the approval, given since the rollback, stands.
    expect((await stack.as("ada", "PUT", "/models/toy/traffic", { shadows: [3] })).status).toBe(200);
    expect((await toProduction(2)).status).toBe(200);
    const pairs = stack.file("pairs.jsonl", '{"unit": "u1", "served": 1, "shadow": 3}\n');
    const log = ["models", "shadow", "log", "toy", "3", "--file", pairs];
    expect([await stack.json(log), await stack.json(log)]).toEqual([
      { stored: 1, known: 0 },
      { stored: 0, known: 1 },
    ]);
    expect(await stack.json(["models", "shadow", "show", "toy", "3"])).toMatchObject({ meanAbsoluteDifference: 2 });
  });

  it("has all of it in its history, each with who and why", async () => {
    const { history } = await stack.json<{ history: readonly HistoryEntry[] }>(["models", "history", "toy", "--all"]);
    expect(history.map(({ revision }) => revision)).toEqual(history.map((_, i) => i + 1));
    const sent = history
      .filter(({ action }) => ["policy-set", "approved", "promoted", "rolled-back"].includes(action))
      .map(({ action, version = "", by, reason = "" }) =>
        `${action} ${version} ${by.replace(/run-\w+/, "RUN")} ${reason}`.trim(),
      );
    const [set, ...rest] = sent;
    expect(set).toMatch(/^policy-set .* goes to users$/);
    expect(rest).toEqual([
      "approved 1 grace seen",
      "promoted 1 run RUN",
      "approved 2 alan seen",
      "promoted 2 run RUN",
      expect.stringMatching(/^rolled-back 1 .* slow$/),
      "approved 2 grace seen",
      "promoted 2 ada",
    ]);
    const { history: newest } = await stack.json<{ history: readonly HistoryEntry[] }>([
      "models",
      "history",
      "toy",
      "--limit",
      "2",
    ]);
    expect(newest).toEqual(history.slice(-2));
  });

  it("evaluates a waiting run again when another version is promoted, and withdraws its approval visibly", async () => {
    const two = policy.replace("approvals: {", "approvals: { required: 2,");
    await stack.json(["models", "policy", "set", "toy", stack.file("two.yaml", two)]);
    const runs: Shown[] = [];
    for (const seed of [5, 6]) {
      runs.push(await submit(write(`seed-${seed}.yaml`, (job) => job.replace("seed: 3", `seed: ${seed}`))));
    }
    const [first, second] = runs.map(({ runId }) => runId) as [string, string];
    for (const version of [4, 5]) expect((await answer(version)).body.version.gate).toMatchObject({ passed: true });
    const { next } = (await approve("grace", 5)).body.version as ModelVersion & { next: readonly Awaited[] };
    expect(next).toEqual([expect.objectContaining({ what: expect.stringContaining("1 of 2 given; from alan") })]);
    await approve("grace", 4);
    await approve("alan", 4);
    expect(await watch(first)).toMatchObject({ outcome: { decision: "registered", version: 4 } });
    const evaluated = await until("the second evaluation of version 5", async () => {
      const { version } = await stack.get<Version>("/models/toy/versions/5");
      return version.gate?.champion === 4 ? version : undefined;
    });
    expect(evaluated).toMatchObject({
      approvals: [],
      approvalsWithdrawn: { after: "evaluated-again", of: ["grace"], reason: expect.stringContaining("version 4") },
    });
    const watched = await stack.run("runs", "watch", second);
    expect(watched.stdout).toMatch(
      /waiting for 2 approvals \(.*approval of grace withdrawn: the gates evaluated the version again .*compared with version 4; at the approval with version 2\): ringmaster models approve toy 5/,
    );
    expect((await stack.run("models", "show", "toy")).stdout).toContain("approval of grace withdrawn");
    for (const person of ["grace", "alan"]) await approve(person, 5);
    expect(await watch(second)).toMatchObject({ outcome: { decision: "registered", version: 5 } });
  });
});
