import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { describeRun } from "../../cli/run-description";
import type { ModelDriftReport } from "../../core/drift/shapes";
import { evaluationKind } from "../../core/evaluation/shapes";
import type { RunDetails } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import { trainingKind } from "../../core/runs/training-task";
import { isRunning, TestStack, toyCsv, toyJob, toySchema, until } from "./harness";

type Shown = ReturnType<typeof describeRun>;
interface MlflowRun {
  readonly run: { readonly data: { readonly metrics: readonly object[]; readonly tags: readonly object[] } };
}

/** The whole path on one machine, by the commands that a person types; processes are killed on the way. */
describe("raw data to a champion model", () => {
  // Above this, an evaluation is a job. Only that of a model with wide layers is.
  const stack = new TestStack(undefined, { RINGMASTER_EVALUATION_OPERATIONS: "40000000" });
  const show = (runId: string) => stack.json<Shown>(["runs", "show", runId]);
  const submit = async (file: string, ...more: string[]) =>
    (await stack.json<{ runId: string }>(["submit", file, ...more])).runId;
  /** Waits for the run as `--wait` does: to its end, or until it waits for a person. */
  const watch = (runId: string) => stack.json<Shown>(["runs", "watch", runId], [0, 1, 3]);
  const trainingPast = (runId: string, step: number) =>
    until(`step ${step} of ${runId}`, async () => {
      const { run, progress } = await stack.get<RunDetails>(`/training-runs/${runId}`);
      if (run.failure) throw new Error(JSON.stringify(run.failure));
      return progress && progress.step >= step ? progress : undefined;
    });

  let job: string;
  let longJob: string;
  let first: Shown;

  beforeAll(async () => {
    await stack.up();
    job = stack.file("job.yaml", toyJob(6, 2));
    longJob = stack.file("long.yaml", toyJob(60, 2));
  });
  afterAll(() => stack.remove());

  it("pushes data; the same content again is the same version", async () => {
    const csv = stack.file("toy.csv", toyCsv(1_200));
    const schema = stack.file("schema.yaml", toySchema);
    const push = () => stack.json(["datasets", "push", "toy", "--file", csv, "--schema", schema]);
    expect(await push()).toMatchObject({ created: true, name: "toy", version: 1, rowCount: 1_200 });
    expect(await push()).toMatchObject({ created: false, version: 1 });
  });

  it("trains with two workers, evaluates, registers and passes the gates; its version waits for an approval", async () => {
    const runId = await submit(job);
    first = await watch(runId);
    expect(first).toMatchObject({ status: "completed", outcome: { decision: "registered", model: "toy", version: 1 } });
    expect(first.weightsSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(first.evaluation?.["accuracy"]).toBeGreaterThan(0.8);
    expect(first.workers.map(({ rank }) => rank)).toEqual([0, 1]);
    expect(first.attempts).toMatchObject([{ attempt: 1, status: "succeeded", usage: { instanceTypes: ["local"] } }]);
    expect(first.usage?.workerSeconds).toBeGreaterThan(0);
    expect(first.metrics.map(({ metric }) => metric)).toContain("train/loss");
    const { steps } = findOutput(first, trainingKind)!;
    for (const [name, last] of Object.entries(first.evaluation ?? {})) {
      expect(first.metrics).toContainEqual(expect.objectContaining({ metric: `test/${name}`, last, lastStep: steps }));
    }
    const early = await stack.run("models", "promote", "toy", "1");
    expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining("has 0 of 1 approvals") });
    expect(await stack.run("models", "resolve", "toy")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no version in production"),
    });
  });

  it("is listed as completed, with its test accuracy; filters are checked", async () => {
    const list = (...filters: string[]) => stack.run("runs", "list", ...filters);
    const { stdout } = await list("--experiment", "toy", "--status", "completed");
    expect(stdout).toMatch(/^RUN .* TOOK .* test\/accuracy/);
    expect(stdout).toMatch(new RegExp(`^${first.runId} +completed +toy `, "m"));
    expect((await list("--status", "completed")).stdout).toBe(stdout); // TOOK stands still
    expect((await list("--status", "running")).stdout).toBe("no training run matches\n");
    expect(await list("--status", "bogus")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("queued, running, paused, completed, failed, killed"),
    });
    expect(await list("--experiment", "bogus")).toMatchObject({ code: 2, stderr: expect.stringContaining("bogus") });
    const listed = await stack.json<{ runs: object[] }>(["runs", "list", "--metric", "test/accuracy"]);
    expect(listed.runs).toMatchObject([
      { runId: first.runId, metrics: { "test/accuracy": first.evaluation?.["accuracy"] } },
    ]);
  });

  it("is promoted by an approval, and serves: the artifact alone predicts in a fresh process", async () => {
    const approved = await stack.json(["models", "approve", "toy", "1", "--reason", "looks right", "--wait"]);
    expect(approved).toMatchObject({ stage: "production", approvalRequest: { by: `run ${first.runId}` } });
    expect(await stack.json(["models", "resolve", "toy"])).toMatchObject({ version: 1, sha256: first.weightsSha256 });
    const rows = stack.file(
      "rows.json",
      JSON.stringify([
        { x1: 0.5, x2: 0.5, x3: 1, colour: "red" },
        { x1: 2.5, x2: -1.5, x3: 1, colour: "never seen" },
      ]),
    );
    const { predictions } = await stack.json<{ predictions: { label: number }[] }>([
      "models",
      "predict",
      "toy",
      "--file",
      rows,
    ]);
    expect(predictions.map(({ label }) => label)).toEqual([0, 2]);
    const table = stack.file("rows.csv", "x1,x2,x3,colour\n0.5,0.5,1,red\n2.5,-1.5,1,never seen\n");
    const out = stack.file("predictions.csv", "");
    for (const version of ["toy/1", "toy@champion"]) {
      expect(await stack.json(["models", "predict", version, "--file", table, "--out", out])).toMatchObject({
        rows: 2,
      });
      const [header, ...lines] = readFileSync(out, "utf8").trim().split("\n");
      expect(header).toBe("row,label,probability_0,probability_1,probability_2");
      expect(lines.map((line) => line.split(",")[1])).toEqual(["0", "2"]);
    }
    expect(await stack.run("models", "predict", "toy@nobody", "--file", table, "--out", out)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("must name an alias of toy"),
    });
  });

  it("has drift that is measured against the data of its training", async () => {
    const lines = Array.from({ length: 300 }, (_row, i) => `${(i % 17) / 8 - 1},${9 + (i % 5)},${i % 3},red,${i % 2}`);
    const served = stack.file("served.csv", `x1,x2,x3,colour,prediction\n${lines.join("\n")}\n`);
    const report = await stack.json<ModelDriftReport>(["models", "drift", "toy@1", "--file", served]);
    expect(report).toMatchObject({ model: "toy", version: 1, severity: "critical", multivariate: { high: 1 } });
    expect(report.columns.filter(({ severity }) => severity).map(({ column }) => column)).toContain("x2");
    const page = stack.file("drift.html", "");
    const { code, stdout } = await stack.run("models", "drift", "toy", "--file", served, "--html", page, "--fail-on", "critical"); // biome-ignore format: a command
    expect([code, stdout]).toEqual([3, expect.stringContaining("all columns together: critical")]);
    expect(readFileSync(page, "utf8")).toContain("inferences of toy/1 against toy@1");
  });

  it("an identical run reuses every step and says so, without a new approval", async () => {
    const again = await watch(await submit(job));
    expect(again).toMatchObject({ status: "completed", weightsSha256: first.weightsSha256, outcome: { version: 1 } });
    const banner = stack.file("run.html", "");
    await stack.run("runs", "page", again.runId, "--html", banner);
    expect(readFileSync(banner, "utf8")).toMatch(/class="banner good">toy version 1 was /);
    expect(again.reused.map(({ step, reusedFrom }) => [step, reusedFrom])).toEqual(
      ["ValidateDataset", "PrepareFeatures", "LaunchTraining", "Evaluate", "Register"].map((step) => [
        step,
        first.runId,
      ]),
    );
    expect(again.attempts).toEqual([]);

    // Its metrics are those of the training that it reuses and of its own evaluation, wherever they are read.
    const own = ({ metric }: Shown["metrics"][number]) => !metric.startsWith("system/");
    const values = (shown: Shown) =>
      shown.metrics.filter(own).map(({ metric, last, lastStep }) => [metric, last, lastStep]);
    expect(values(again)).toEqual(values(first));
    const { runs } = await stack.json<{ runs: readonly { run: { runId: string } }[] }>([
      ...["runs", "search", `metrics.test/accuracy > 0.8 and reused_from = '${first.runId}'`],
    ]);
    expect(runs.map(({ run }) => run.runId)).toEqual([again.runId]);
    expect((await stack.run("runs", "metrics", first.runId)).stdout).toMatch(
      /METRIC +LAST +MIN +MAX +STEP *\n *test\/accuracy [\s\S]*system\/worker-0\/rss +[\d.]+ MB/,
    );
    expect((await stack.run("runs", "metrics", again.runId)).stdout).toMatch(
      new RegExp(`test/accuracy +[01][\\s\\S]*reused from ${first.runId}`),
    );
    expect((await stack.run("runs", "show", again.runId)).stdout).toMatch(
      new RegExp(`training +reused from ${first.runId}`),
    );
    const file = join(stack.directory, "page.html");
    expect((await stack.run("runs", "page", again.runId, "--html", file)).code).toBe(0);
    const page = readFileSync(file, "utf8");
    for (const part of ["confusion matrix", "ROC curve", "calibration", "test/<wbr>accuracy", "train/learning-rate"]) {
      expect(page).toContain(part);
    }
    expect(page).toMatch(new RegExp(`reused from (?:<[^>]*>)?${first.runId}`));
    const mlflow = await stack.get<MlflowRun>(`/../2.0/mlflow/runs/get?run_id=${again.runId}`);
    const accuracy = first.evaluation?.["accuracy"];
    expect(mlflow.run.data.metrics).toContainEqual(expect.objectContaining({ key: "test/accuracy", value: accuracy }));
    expect(mlflow.run.data.tags).toContainEqual({ key: "ringmaster.reusedFrom", value: first.runId });
  });

  it("submit --wait prints the metrics of the test split and how the run ended", async () => {
    const { code, stdout } = await stack.run("submit", job, "--wait");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /METRIC +VALUE *\n *test\/accuracy +[01][.\d]* *\n[\s\S]*test\/logLoss +\d[\s\S]*completed.*version 1 is in production/,
      ),
    });
  });

  it.each([1, 3])(
    "computed again with %d workers, the weights are the same bytes as with 2",
    async (workers) => {
      // None begins without the others, however slowly they start.
      const all = ["workers", "minWorkers"].flatMap((name) => ["--set", `resources.${name}=${workers}`]);
      const repeated = await watch(await submit(job, "--no-cache", ...all));
      expect(repeated).toMatchObject({ weightsSha256: first.weightsSha256, reused: [] });
      expect(repeated.workers.map(({ rank }) => rank)).toEqual(Array.from({ length: workers }, (_, rank) => rank));
    },
    240_000,
  );

  it("a worker killed with kill -9 changes nothing, and the stack killed with kill -9 changes nothing", async () => {
    const undisturbed = await watch(await submit(longJob, "--no-cache", "--set", "resources.workers=1"));

    const wounded = await submit(longJob, "--no-cache");
    process.kill((await trainingPast(wounded, 5)).workers[1]!.pid, "SIGKILL");
    const { generation, workers: survivors } = await until("the survivor's generation", async () => {
      const { progress } = await stack.get<RunDetails>(`/training-runs/${wounded}`);
      return progress && progress.generation > 1 ? progress : undefined;
    });
    process.kill(survivors.find(({ state }) => state === "training")!.pid, "SIGKILL");
    const healed = await watch(wounded);
    expect(healed.usage?.workerLosses).toBe(2);
    const shown = (await stack.run("runs", "show", wounded)).stdout;
    expect(shown).toMatch(/^worker losses +2 \(training resumed .+\)$/m);
    expect(healed.failure).toBeUndefined();
    expect(healed.weightsSha256).toBe(undisturbed.weightsSha256);
    expect(healed.progress?.generation).toBeGreaterThan(generation);

    const orphaned = await submit(longJob, "--no-cache");
    const { workers } = await trainingPast(orphaned, 25);
    const { pid } = await stack.json<{ pid: number }>(["status"]);
    process.kill(pid, "SIGKILL");
    await until("the orphans' end", async () => (workers.some((worker) => isRunning(worker.pid)) ? undefined : true));
    await stack.up();
    const resumed = await watch(orphaned);
    expect(resumed.failure).toBeUndefined();
    expect(resumed.weightsSha256).toBe(undisturbed.weightsSha256);
  }, 240_000);

  it("a large evaluation is a job, which meets the champion; a rejection keeps the version out of production", async () => {
    const runId = await submit(job, "--set", "seed=99", "--set", "model.hidden=[512,512]");
    const waiting = await watch(runId);
    expect(waiting.attempts).toMatchObject([
      { attempt: 1, workers: 2, status: "succeeded" },
      { attempt: 2, workers: 1, status: "succeeded", evaluation: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(findOutput(waiting, evaluationKind)).toMatchObject({
      engine: { backend: "wasm", device: "cpu", ran: "job" },
      comparison: { kind: "compared", champion: 1 },
    });
    expect((await stack.run("runs", "logs", runId, "--worker", "2")).stdout).toContain('"message":"evaluated"');
    expect((await stack.run("runs", "show", runId)).stdout).toMatch(/^2 \(evaluation\) +spot/m);
    const { version } = waiting.steps.find(({ step }) => step === "Register")!.output as { version: number };
    await stack.json(["models", "reject", "toy", String(version), "--reason", "not this one"]);
    expect(await watch(runId)).toMatchObject({ status: "completed", outcome: { decision: "registered", version } });
    expect(await stack.json(["models", "resolve", "toy"])).toMatchObject({ version: 1 });
  });

  it("a model below its threshold is refused by the gate, with the evidence", async () => {
    const runId = await submit(job, "--set", "evaluation.thresholds.accuracy=1.1");
    expect(await watch(runId)).toMatchObject({
      status: "completed",
      outcome: { decision: "refused-by-gate", reasons: [expect.stringMatching(/^accuracy [\d.]+ < 1\.1$/)] },
    });
  });

  it("a cancelled run is killed, and its trainers with it", async () => {
    const runId = await submit(longJob, "--no-cache");
    const { workers } = await trainingPast(runId, 1);
    expect(await stack.json(["runs", "cancel", runId])).toMatchObject({ status: "killed" });
    await until("the trainers' end", async () => (workers.some(({ pid }) => isRunning(pid)) ? undefined : true));
    // The stores refuse an ended run. A trainer that retried until the host kills it would have 60 such lines.
    const { stdout } = await stack.run("runs", "logs", runId);
    expect(stdout.split("the gang's store failed").length).toBeLessThan(45);
    expect(await show(runId)).toMatchObject({ status: "killed", failure: { code: "CANCELLED" } });
    expect((await stack.run("runs", "cancel", first.runId)).code).toBe(2);
  });

  it("shows what its trainers printed", async () => {
    const { stdout } = await stack.run("runs", "logs", first.runId);
    expect(stdout).toContain('"message":"completed"');
  });

  it("asks for a token once there is one, and knows by it who calls", async () => {
    const create = (name: string, ...more: readonly string[]) =>
      stack.json<{ token: string }>(["--team", "default", "tokens", "create", name, ...more]);
    const { token } = await create("ann", "--scope", "read,write,approve", "--expires", "1d");
    const { token: without } = await create("ben");
    const refused = await stack.json(["models", "list"], [2]);
    expect(refused).toMatchObject({ error: { code: "UNAUTHENTICATED" } });
    expect((await stack.run("status")).code).toBe(0);
    process.env["RINGMASTER_TOKEN"] = without;
    try {
      const refused = await stack.run("models", "approve", "toy", "1");
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/decideModelVersion requires scope approve, but the token of ben has scope read, write/),
      ]);
      process.env["RINGMASTER_TOKEN"] = token;
      await stack.json(["models", "approve", "toy", "2", "--reason", "fine"]);
      expect(await stack.json(["--team", "other", "models", "list"], [2])).toMatchObject({
        error: { code: "NOT_IN_TEAM" },
      });
      const { history } = await stack.json<{ history: { action: string; by: string }[] }>(["models", "show", "toy"]);
      expect(history.findLast(({ action }) => action === "approved")?.by).toBe("ann");
      const { tokens } = await stack.json<{ tokens: readonly { actor: string; expiresAt?: string; scopes?: [] }[] }>([
        ...["tokens", "list"],
      ]);
      expect(tokens.map(({ actor, expiresAt, scopes }) => [actor, expiresAt !== undefined, scopes])).toEqual([
        ["ann", true, ["read", "write", "approve"]],
        ["ben", true, ["read", "write"]],
      ]);
    } finally {
      delete process.env["RINGMASTER_TOKEN"];
    }
  });

  it("leaves nothing running", async () => {
    const { pid } = await stack.json<{ pid: number }>(["status"]);
    expect((await stack.run("down")).code).toBe(0);
    await until("the end of the stack", async () => (isRunning(pid) ? undefined : true)); // its parent collects it
    expect((await stack.run("status")).code).toBe(1);
  });
});
