import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ClassicLevel } from "classic-level";
import type { describeRun } from "../../cli/run-description";
import { objectKeys } from "../../core/object-keys";
import type { CheckpointSummary, Run } from "../../core/runs/shapes";
import type { MetricSummary } from "../../core/tracking/metric-store";
import type { RunRecord } from "../../core/tracking/shapes";
import { journalsOf, storesOf } from "../../local/storage/stores";
import { localConfig } from "../../stack/settings";
import { flipBit, objectFiles } from "../support/damage";
import { TestStack, toyCsv, toyJob, toySchema } from "./harness";
import { restClient } from "./newcomer/mlflow";

type Shown = ReturnType<typeof describeRun>;

interface DescribedRun {
  readonly run: RunRecord;
  readonly metrics: readonly MetricSummary[];
}

/** Disables the gates, which are not tested here. */
const ends = [0, 3];

describe("a run that continues from a checkpoint", () => {
  const stack = new TestStack();
  beforeAll(() => stack.up());
  afterAll(() => stack.remove());
  let undisturbed: Shown;

  it("of another run ends with the same weights, and says where it began", async () => {
    const csv = stack.file("toy.csv", toyCsv(1_200));
    const schema = stack.file("schema.yaml", toySchema);
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", schema]);
    const { runId } = await stack.json<{ runId: string }>(["submit", stack.file("job.yaml", toyJob(6))]);
    const whole = await stack.json<Shown>(["runs", "watch", runId], ends);
    undisturbed = whole;

    const { checkpoints } = await stack.json<{ checkpoints: readonly CheckpointSummary[] }>([
      "runs",
      "checkpoints",
      runId,
    ]);
    const from = checkpoints[0]!;
    expect(from.epoch).toBeLessThan(6);
    const restored = await stack.json<Run>(["runs", "restore", runId, "--epoch", String(from.epoch)]);
    const again = await stack.json<Shown>(["runs", "watch", restored.runId], ends);
    expect(again.restoredFrom).toEqual({
      runId,
      epoch: from.epoch,
      step: from.finishedSteps,
      weightsSha256: from.weightsSha256,
    });
    expect(again.weightsSha256).toBe(whole.weightsSha256);
    expect(again.otherNumerics).toBeUndefined();
    expect(again.reused.map(({ step }) => step)).not.toContain("LaunchTraining");
    const losses = await stack.get<{ points: readonly { step: number }[] }>(
      `/training-runs/${restored.runId}/metrics?metric=train/loss`,
    );
    expect(Math.min(...losses.points.map(({ step }) => step))).toBe(from.finishedSteps + 1);

    const none = await stack.run("runs", "restore", runId, "--epoch", "99");
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("no checkpoint of epoch 99") });

    const last = checkpoints.at(-1)!;
    const manifest = `teams/default/${objectKeys.checkpointManifest(runId, last.finishedSteps)}`;
    const files = objectFiles(join(stack.data, "s3"), localConfig().bucket, manifest);
    for (const file of files) flipBit(file, 40);
    const listed = await stack.json<{ checkpoints: object[]; damaged: object[] }>(["runs", "checkpoints", runId]);
    expect(listed.checkpoints).toEqual(checkpoints.slice(0, -1));
    expect(listed.damaged).toMatchObject([{ finishedSteps: last.finishedSteps }]);
    const refused = await stack.run("runs", "restore", runId, "--epoch", String(last.epoch), "--epochs", "9");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(`the checkpoint of run ${runId} at step ${last.finishedSteps} is damaged`);
  }, 240_000); // two whole runs

  it("pauses twice, outlives the stack, and ends with the weights and points of the run that never paused", async () => {
    const submitted = await stack.run(
      "submit",
      stack.file("job.yaml", toyJob(6, 2)),
      "--no-cache",
      "--pause-at",
      "2",
      "--wait",
    );
    const runId = /^run-\w+$/m.exec(submitted.stdout)![0];
    expect(submitted).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`paused after epoch 2 of 6; continue it with: ringmaster runs resume ${runId}`),
    });
    const refused = await stack.run("runs", "resume", runId, "--until", "2", "--workers", "99");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("must be more than the 2 finished epochs");
    expect(refused.stderr).toContain("at most resources.microBatches");

    await stack.json(["runs", "resume", runId, "--until", "3", "--workers", "1"]);
    expect(await stack.json<Shown>(["runs", "watch", runId])).toMatchObject({
      status: "paused",
      run: { segment: 1, pauseAt: 3, workers: 1 },
    });
    process.kill((await stack.json<{ pid: number }>(["status"])).pid, "SIGKILL");
    await stack.up();
    expect(await stack.json<Shown>(["runs", "show", runId])).toMatchObject({ status: "paused" });

    await stack.json(["runs", "resume", runId]);
    const resumed = await stack.json<Shown>(["runs", "watch", runId], ends);
    expect(resumed.weightsSha256).toBe(undisturbed.weightsSha256);
    expect(resumed.evaluation).toEqual(undisturbed.evaluation);
    expect(resumed.attempts.map(({ attempt, workers }) => [attempt, workers])).toEqual([
      [1, 2],
      [2, 1],
      [3, 2],
    ]);
    for (const metric of ["train/loss", "validation/loss"]) {
      const [found, expected] = await Promise.all(
        [runId, undisturbed.runId].map(async (id) => {
          const path = `/training-runs/${id}/metrics?metric=${metric}`;
          const { points } = await stack.get<{ points: readonly { step: number; value: number }[] }>(path);
          return points.map(({ step, value }) => [step, value]);
        }),
      );
      expect(expected!.length).toBeGreaterThanOrEqual(6);
      expect(found).toEqual(expected);
    }
    const again = await stack.run("runs", "resume", runId);
    expect(again).toMatchObject({ stderr: expect.stringContaining(`run ${runId} is completed, not paused`) });
    expect(again.code).not.toBe(0);
  }, 240_000);

  it("stops early, with the result of its best epoch, and says so", async () => {
    const job = stack.file("job.yaml", toyJob(6));
    const rule = (metric: string) => `earlyStopping={ metric: ${metric}, patience: 1, minDelta: 100 }`;
    const unknown = await stack.run("submit", job, "--set", rule("validation/auc"));
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("validation/loss, validation/accuracy") });

    const submitted = await stack.run("submit", job, "--set", rule("validation/loss"), "--wait");
    const text = /stopped at epoch 2; weights of epoch 1, the best by validation\/loss \(/;
    expect(submitted.stdout).toMatch(text);
    const runId = /^run-\w+$/m.exec(submitted.stdout)![0];
    expect((await stack.run("runs", "show", runId)).stdout).toMatch(text);
    const stopped = await stack.json<Shown>(["runs", "show", runId]);
    const lossesOf = async (id: string) => {
      const path = `/training-runs/${id}/metrics?metric=validation/loss`;
      return (await stack.get<{ points: readonly { value: number }[] }>(path)).points.map(({ value }) => value);
    };
    const [all, own] = [await lossesOf(undisturbed.runId), await lossesOf(runId)];
    expect(own).toEqual(all.slice(0, 2));
    expect(stopped).toMatchObject({
      status: "completed",
      earlyStopping: { epoch: 2, bestEpoch: 1, value: all[0], stopped: true },
    });
    const { checkpoints } = await stack.json<{ checkpoints: readonly CheckpointSummary[] }>([
      "runs",
      "checkpoints",
      runId,
    ]);
    expect(checkpoints.find(({ epoch, validation }) => epoch === 1 && validation)?.weightsSha256).toBe(
      stopped.weightsSha256,
    );
  });

  it("makes a version through MLflow's protocol, once, from its record", async () => {
    const mlflow = restClient(stack.url);
    type Created = { readonly model_version: { readonly version: string; readonly run_id: string } };
    const { runId } = undisturbed;
    await mlflow.post("registered-models/create", { name: "toy by mlflow" });
    const { run } = await mlflow.get<{ run: { info: { artifact_uri: string } } }>("runs/get", { run_id: runId });
    for (const source of [`runs:/${runId}/model`, `${run.info.artifact_uri}/model`]) {
      const request = { name: "toy by mlflow", source, run_id: runId, tags: [{ key: "from", value: "a notebook" }] };
      const { model_version } = await mlflow.post<Created>("model-versions/create", request);
      expect(model_version).toMatchObject({ version: "1", run_id: runId });
    }
    // The client looks for the model's files before it registers, and loads them by the run.
    const { files } = await mlflow.get<{ files: readonly { path: string; file_size: number }[] }>("artifacts/list", {
      run_id: runId,
      path: "model",
    });
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(["model/MLmodel", "model/model.onnx"]));
    const place = run.info.artifact_uri.replace("mlflow-artifacts:/", "");
    const file = await fetch(`${stack.url}/api/2.0/mlflow-artifacts/artifacts/${place}/model/MLmodel`);
    expect([file.status, await file.text()]).toEqual([200, expect.stringContaining("python_function")]);
    const missing = await fetch(`${stack.url}/api/2.0/mlflow-artifacts/artifacts/${place}/model/nothing`);
    expect(missing.status).toBe(404);
    const { body } = await stack.as<{ version: object }>("ada", "GET", "/models/toy%20by%20mlflow/versions/1");
    expect(body.version).toMatchObject({
      runId,
      weightsSha256: undisturbed.weightsSha256,
      metrics: undisturbed.evaluation,
      tags: { from: "a notebook" },
      gate: { passed: expect.any(Boolean) },
    });
  });

  it("begins with another run's weights, and reports them per layer", async () => {
    const job = stack.file("job.yaml", toyJob(2));
    const { runId } = undisturbed;
    const submit = (...settings: readonly string[]) =>
      stack.run("submit", job, "--wait", ...settings.flatMap((setting) => ["--set", setting]));
    const idOf = ({ stdout }: { readonly stdout: string }) => /^run-\w+$/m.exec(stdout)![0];
    const show = (id: string) => stack.json<Shown>(["runs", "show", id]);
    const firstLoss = async (id: string) => {
      const path = `/training-runs/${id}/metrics?metric=train/loss`;
      return (await stack.get<{ points: readonly { value: number }[] }>(path)).points[0]!.value;
    };

    const tuned = idOf(await submit("fineTune.from=models:/toy by mlflow/1", "seed=9"));
    expect(await show(tuned)).toMatchObject({
      fineTunedFrom: { model: "toy by mlflow", version: 1, runId, weightsSha256: undisturbed.weightsSha256 },
      fineTune: { loaded: { layers: 2 }, initialised: { layers: 0 } },
    });
    expect(await firstLoss(tuned)).toBeLessThan((await firstLoss(runId)) / 2);
    const text = (await stack.run("runs", "show", tuned)).stdout;
    expect(text).toMatch(/^fine-tuned +from toy by mlflow@1$/m);
    expect(text).toMatch(/^layers +2 layers loaded, 0 layers initialised \((\d+) of \1 weights loaded\)$/m);

    // The same weights, named in another way, are the same training.
    const same = await show(idOf(await submit(`fineTune.from=${runId}`, "seed=9")));
    expect(same.reused).toContainEqual({ step: "LaunchTraining", reusedFrom: tuned });

    type Listed = { readonly checkpoints: readonly CheckpointSummary[] };
    const { epoch } = (await stack.json<Listed>(["runs", "checkpoints", runId])).checkpoints[0]!;
    const wider = idOf(
      await submit(`fineTune={ from: ${runId}@${epoch}, match: prefix }`, "model={ type: mlp, hidden: [16, 8] }"),
    );
    expect(await show(wider)).toMatchObject({
      fineTunedFrom: { runId, epoch },
      fineTune: {
        // Six features and 16 pieces of each of three numbers, and a bias, for 16 units.
        layers: [
          { size: (6 + 3 * 16 + 1) * 16 },
          { initialised: "the source has no dense_2/kernel, dense_2/bias" },
          { size: 27 },
        ],
      },
    });
    const refused = await submit(`fineTune.from=${runId}`, "model={ type: mlp, hidden: [16, 8] }");
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toContain("FINE_TUNE_MISMATCH");

    const again = await stack.json<Run>(["runs", "reproduce", tuned]);
    const reproduced = await stack.json<Shown>(["runs", "watch", again.runId], ends);
    expect(reproduced.weightsSha256).toBe((await show(tuned)).weightsSha256);
    expect(reproduced.fineTunedFrom).toEqual((await show(tuned)).fineTunedFrom);
  }, 240_000);

  it("makes a version that is evaluated on any dataset, and recorded once", async () => {
    type Evaluated = { readonly metrics: object; readonly own: object; readonly runId?: string };
    const evaluate = (...options: readonly string[]) =>
      stack.json<Evaluated>(["evaluate", "toy by mlflow/1", "--dataset", "toy", ...options]);
    const tested = await evaluate();
    expect(tested).toMatchObject({ dataset: "toy@1", split: "test", rows: 120, own: undisturbed.evaluation });
    for (const [name, value] of Object.entries(tested.metrics))
      expect(value).toBeCloseTo(undisturbed.evaluation![name]!, 6);
    expect((await evaluate()).runId).toBe(tested.runId);
    const { run, metrics } = await stack.get<DescribedRun>(`/runs/${tested.runId}`);
    expect(run).toMatchObject({
      status: "completed",
      name: "toy by mlflow@1 on toy@1 (test)",
      params: { model: "toy by mlflow", version: "1", weightsSha256: undisturbed.weightsSha256 },
      datasets: [{ name: "toy", version: 1 }],
    });
    expect(metrics.map(({ metric }) => metric)).toContain("test/accuracy");
    expect(await evaluate("--split", "all", "--no-record")).not.toHaveProperty("runId");
    const text = await stack.run("evaluate", "toy by mlflow/1", "--dataset", "toy@1", "--split", "validation");
    expect(text.stdout).toMatch(/^accuracy +[\d.]+ +[\d.]+ *$/m);
  });

  it.each([
    [["toy by mlflow/1", "--dataset", "toy", "--split", "half"], "must be one of train, validation, test, all"],
    [["toy by mlflow/9", "--dataset", "toy"], "has no version 9"],
    [["toy by mlflow@best", "--dataset", "toy"], "must name an alias"],
    [["toy by mlflow/1", "--dataset", "nothing"], "nothing"],
    [["toy by mlflow/1", "--dataset", "toy@7"], "toy"],
    [["toy by mlflow/1", "--dataset", "Toy!"], "must be NAME, NAME@VERSION or NAME@latest"],
  ])("refuses to evaluate %j", async (args, message) => {
    expect(await stack.run("evaluate", ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it.each([
    ["models:/nothing@champion", "there is no model nothing"],
    ["models:/toy by mlflow@best", "model toy by mlflow has no alias best; its aliases: none"],
    ["models:/toy by mlflow/7", "model toy by mlflow has no version 7"],
    ["models:/toy by mlflow/Production", "must be models:/NAME@ALIAS, models:/NAME/VERSION or models:/NAME/latest"],
    ["run-0000000000000000", "there is no training run run-0000000000000000"],
    ["s3://somewhere/weights", "must be models:/NAME@ALIAS, models:/NAME/VERSION, RUN, or RUN@EPOCH"],
  ])("refuses to fine-tune from %s", async (from, message) => {
    const refused = await stack.run("submit", stack.file("job.yaml", toyJob(2)), "--set", `fineTune.from=${from}`);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it("lists a damaged item of a stopped stack, deletes it by its name, and starts again", async () => {
    const run = await stack.as<{ run: { runId: string } }>("ada", "POST", "/runs", { experiment: "damage" });
    const { runId } = run.body.run;
    expect((await stack.run("down")).code).toBe(0);
    // Every store of a stack is one that `repair` reads.
    const files = readdirSync(stack.data, { recursive: true, encoding: "utf8" }).map((name) => join(stack.data, name));
    const databases = files.filter((file) => basename(file) === "CURRENT").map((file) => dirname(file));
    expect(databases.sort()).toEqual(
      storesOf(stack.data)
        .map(({ directory }) => directory)
        .sort(),
    );
    expect(journalsOf(stack.data).every((path) => files.includes(path))).toBe(true);
    const level = new ClassicLevel<Buffer, string>(join(stack.data, "dynamodb"), { keyEncoding: "buffer" });
    for await (const [key, value] of level.iterator()) {
      if (value.includes(runId)) await level.put(key, value.replaceAll(runId, "damaged"));
    }
    await level.close();
    const { damaged } = await stack.json<{ damaged: { item: string; reason: string }[] }>(["repair"], [1]);
    expect(damaged.map(({ reason }) => reason)).toContainEqual(expect.stringMatching(/^item \{"pk".* of table /));
    expect(await stack.run("repair", "--delete", "dynamodb/00")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("dynamodb/00 is not damaged, so nothing was deleted"),
    });
    expect(await stack.run("repair", ...damaged.flatMap(({ item }) => ["--delete", item]))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`deleted: ${damaged[0]!.item}`),
    });
    expect(await stack.run("repair")).toMatchObject({ code: 0, stdout: expect.stringContaining("is damaged") });
    await stack.up();
    expect((await stack.run("repair")).stderr).toContain("is in use by the stack");
    expect((await stack.run("datasets", "list")).code).toBe(0);
  });
});
