import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { describeRun } from "../../cli/run-description";
import type { Answer } from "../../client/operations";
import { sha256 } from "../../core/digest";
import type { Model } from "../../core/registry/model";
import type { RunDetails } from "../../core/runs/shapes";
import { ensureBuild } from "../../scripts/build.js";
import { csvOf, customers, job, jsonLinesOf, model, schema, wrongModel } from "./newcomer/files";
import { forward, readJson } from "./newcomer/forward";
import { restClient, runPython, withoutMlflow } from "./newcomer/mlflow";
import { Project } from "./newcomer/project";

type ModelVersion = Answer<"getModelVersion">["version"];
type ResolvedModel = Answer<"getProductionModel">;

jest.setTimeout(300_000);

type Shown = ReturnType<typeof describeRun> & { readonly awaited: readonly { readonly kind: string }[] };

/**
 * The path of a newcomer: an empty directory, the packed command line, data and a model of one's own. Each step goes on from the one
 * before, and is checked by what came of it.
 */
describe("a newcomer", () => {
  const project = new Project();
  const rows = customers(400);
  const content = (file: string): Buffer => readFileSync(join(project.directory, file));
  let api = "";
  let own: Shown;
  let mlp: Shown;
  beforeAll(() => project.install());
  afterAll(() => project.remove());

  it("runs the installed command", async () => {
    const { version } = readJson<{ version: string }>(resolve(__dirname, "../../package.json"));
    expect(project.execute("npx", "--no-install", "ringmaster", "--version")).toBe(`${version}\n`);
    ({ api } = await project.json<{ api: string }>(["up", "--detach", "--port", "0", "--api-port", "0"]));
  });

  it("finds each of the package's dependencies, with its digest, in the software bill of materials", () => {
    const installed = (file: string) => join(project.directory, "node_modules", "ringmaster", file);
    const { dependencies } = readJson<{ dependencies: Record<string, string> }>(installed("package.json"));
    const { components } = readJson<{ components: { name: string; version: string; hashes?: object[] }[] }>(
      installed("dist/sbom/sbom.cdx.json"),
    );
    for (const [name, version] of Object.entries(dependencies))
      expect(components).toContainEqual(
        expect.objectContaining({ name, version, hashes: [expect.objectContaining({ alg: "SHA-512" })] }),
      );
  });

  it.each([
    { moduleResolution: "bundler", module: "esnext" },
    { moduleResolution: "node16", module: "node16" },
  ])("has the types of a model of one's own: %j", (options) => {
    project.file("model.ts", model);
    project.file("wrong.ts", wrongModel);
    const messages = project.checkTypes(options, "model.ts", "wrong.ts").match(/^\S+\(\d+,\d+\): error TS\d+/gm);
    expect(messages?.map((message) => message.replace(/,\d+/, ""))).toEqual([
      "wrong.ts(3): error TS2322",
      "wrong.ts(4): error TS2339",
      "wrong.ts(5): error TS2322",
    ]);
  });

  it("pushes a CSV and a JSON-lines file: the same rows are the same version, other rows the next one", async () => {
    project.file("schema.yaml", schema);
    const push = async (name: string, text: string) => {
      project.file(name, text);
      return project.json<{ created: boolean; version: number; digest: string; rowCount: number }>([
        ...["datasets", "push", "customers", "--file", name, "--schema", "schema.yaml"],
      ]);
    };
    const csv = await push("customers.csv", csvOf(rows));
    expect(csv).toMatchObject({ created: true, version: 1, rowCount: 400 });
    expect(await push("customers.jsonl", jsonLinesOf(rows))).toMatchObject({ created: false, digest: csv.digest });
    expect(await push("more.jsonl", jsonLinesOf(customers(500)))).toMatchObject({ version: 2, rowCount: 500 });
  });

  it("trains the custom model with its loss and metric, and a built-in model", async () => {
    project.file("own.yaml", job("churn", "{ type: module, path: model.ts, options: { units: 8 } }"));
    project.file("mlp.yaml", job("baseline", "{ type: mlp, hidden: [8] }"));
    own = await project.json<Shown>(["submit", "own.yaml", "--wait"]);
    mlp = await project.json<Shown>(["submit", "mlp.yaml", "--wait", "--set", "dataset=customers@2"]);
    expect([own, mlp].map(({ awaited }) => awaited.map(({ kind }) => kind))).toEqual([["approval"], ["approval"]]);
    const summary = (name: string) => own.metrics.find(({ metric }) => metric === name)!;
    expect(summary("train/loss").last).toBeLessThan(0.5 * summary("train/loss").max);
    // Grows as the model learns to tell the classes apart.
    expect(summary("train/meanLogit").last).toBeGreaterThan(summary("train/meanLogit").min);
    expect(summary("test/accuracy").last).toBe(own.evaluation!["accuracy"]);
  });

  it("compares and searches them by the metrics of the test split", async () => {
    const accuracies = [own, mlp].map(({ evaluation }) => evaluation!["accuracy"]!);
    const compared = await project.json<{
      runs: readonly { runId: string }[];
      metrics: readonly { metric: string; values: readonly { last: number }[] }[];
    }>(["runs", "compare", own.runId, mlp.runId]);
    expect(compared.runs.map(({ runId }) => runId)).toEqual([own.runId, mlp.runId]);
    const { values } = compared.metrics.find(({ metric }) => metric === "test/accuracy")!;
    expect(values.map(({ last }) => last)).toEqual(accuracies);
    const best = own.evaluation!["logLoss"]! < mlp.evaluation!["logLoss"]! ? own : mlp;
    const { runs } = await project.json<{ runs: readonly { run: { runId: string } }[] }>([
      ...["runs", "search", "metrics.`test/accuracy` > 0.5", "--order", "metrics.`test/logLoss` ASC"],
    ]);
    expect(runs.map(({ run }) => run.runId)).toHaveLength(2);
    expect(runs[0]!.run.runId).toBe(best.runId);
  });

  it("downloads what the run left, and what was put there, byte by byte", async () => {
    const get = (path: string, file: string) =>
      project.json<{ sha256: string; bytes: number }>(["runs", "artifacts", "get", own.runId, path, "--output", file]);
    expect((await get("training/model/weights.safetensors", "weights.safetensors")).sha256).toBe(own.weightsSha256);
    expect(sha256(content("weights.safetensors"))).toBe(own.weightsSha256);
    await get("training/evaluation/report.json", "report.json");
    const report = readJson<{ rows: number; confusionMatrix: readonly (readonly number[])[] }>(
      join(project.directory, "report.json"),
    );
    expect(report.confusionMatrix.flat().reduce((a, b) => a + b)).toBe(report.rows);
    const right = report.confusionMatrix.reduce((sum, line, k) => sum + line[k]!, 0);
    expect(right / report.rows).toBeCloseTo(own.evaluation!["accuracy"]!, 12);

    project.file("plot.bin", randomBytes(3_000_000));
    await project.json(["runs", "artifacts", "put", own.runId, "plot.bin", "--path", "plots/plot.bin"]);
    await get("plots/plot.bin", "plot.back");
    expect(content("plot.back").equals(content("plot.bin"))).toBe(true);
  });

  it("approves the registered version, which serving then resolves by its digest", async () => {
    const shown = await project.json<{ model: Model; versions: readonly ModelVersion[] }>(["models", "show", "churn"]);
    const version = shown.versions.find(({ runId }) => runId === own.runId)!;
    expect(version).toMatchObject({ version: 1, stage: "staging", weightsSha256: own.weightsSha256 });
    const run = await project.json<Shown>(["runs", "show", own.runId]);
    expect(run).toMatchObject({ status: "completed", outcome: { decision: "registered", model: "churn", version: 1 } });
    await project.json(["models", "approve", "churn", "1", "--reason", "the first one", "--wait"]);
    const resolved = await project.json<ResolvedModel>(["models", "resolve", "churn"]);
    expect(resolved).toMatchObject({ version: 1, runId: own.runId, sha256: own.weightsSha256 });
  });

  it("exports it, and predicts what its weights give by hand", async () => {
    for (const format of ["safetensors", "onnx"]) {
      const made = await project.json<{ export: { files: readonly { path: string; sha256: string }[] } }>([
        ...["models", "export", "churn", "--format", format, "--out", format],
      ]);
      expect(made.export.files.length).toBeGreaterThan(2);
      for (const { path, sha256: digest } of made.export.files)
        expect(sha256(content(join(format, path)))).toBe(digest);
    }
    const exported = join(project.directory, "safetensors");
    const byHand = forward(join(project.directory, "weights.safetensors"), exported, rows);
    expect(forward(join(exported, "model.safetensors"), exported, rows)).toEqual(byHand);

    project.file("rows.json", JSON.stringify(rows.map(({ churned: _label, ...row }) => row)));
    const { predictions } = await project.json<{
      predictions: readonly { label: boolean; probabilities: readonly { label: boolean; probability: number }[] }[];
    }>(["models", "predict", "churn", "--file", "rows.json"]);
    const predicted = predictions.map(({ probabilities }) => probabilities.find(({ label }) => label)!.probability);
    expect(Math.max(...predicted.map((value, i) => Math.abs(value - byHand[i]!)))).toBeLessThan(1e-5);
    const right = predictions.filter(({ label }, i) => label === rows[i]!.churned).length;
    expect(right / rows.length).toBeGreaterThan(0.85);
  });

  it("reproduces the run to the same bytes", async () => {
    const found = await project.json<Record<string, string>>(["runs", "reproduce", own.runId, "--wait"]);
    expect(found).toMatchObject({ verdict: "identical", of: own.runId, reproductionSha256: own.weightsSha256 });
    expect(found["runId"]).not.toBe(own.runId);
  });

  it("restores a checkpoint, which trains on to the same bytes", async () => {
    const { checkpoints } = await project.json<{
      checkpoints: readonly { epoch: number; finishedSteps: number; weightsSha256: string }[];
    }>(["runs", "checkpoints", own.runId]);
    expect(checkpoints.at(-1)).toMatchObject({ epoch: 8, weightsSha256: own.weightsSha256 });
    const { epoch, finishedSteps, weightsSha256 } = checkpoints.at(-2)!;
    expect(weightsSha256).not.toBe(own.weightsSha256);
    const restore = ["runs", "restore", own.runId, "--epoch", String(epoch), "--wait"];
    const restored = await project.json<Shown>(restore, [0, 3]);
    expect(restored.restoredFrom).toMatchObject({ runId: own.runId, epoch, step: finishedSteps, weightsSha256 });
    expect(restored.weightsSha256).toBe(own.weightsSha256);
  });

  it("is read and written by MLflow's protocol", async () => {
    const mlflow = restClient(api);
    interface MlflowRun {
      readonly info: { readonly run_id: string; readonly experiment_id: string; readonly status: string };
      readonly data: { readonly metrics: readonly { key: string; value: number }[] };
    }
    const trained = await mlflow.get<{ run: MlflowRun }>("runs/get", { run_id: own.runId });
    const { value } = trained.run.data.metrics.find(({ key }) => key === "test/accuracy")!;
    expect([trained.run.info.status, value]).toEqual(["FINISHED", own.evaluation!["accuracy"]]);
    const weights = `${trained.run.info.experiment_id}/${own.runId}/artifacts/training/model/weights.safetensors`;
    expect((await mlflow.getFile(weights)).equals(content("weights.safetensors"))).toBe(true);

    const { experiment_id } = await mlflow.post<{ experiment_id: string }>("experiments/create", { name: "logged" });
    const created = await mlflow.post<{ run: MlflowRun }>("runs/create", {
      experiment_id,
      start_time: 1_700_000_000_000,
    });
    const { run_id } = created.run.info;
    const metrics = [0.5, 0.25, 0.125].map((loss, step) => ({
      key: "loss",
      value: loss,
      timestamp: 1_700_000_000_000,
      step,
    }));
    await mlflow.post("runs/log-batch", { run_id, metrics, params: [{ key: "depth", value: "3" }] });
    const file = new Uint8Array(randomBytes(100_000));
    await mlflow.putFile(`${experiment_id}/${run_id}/artifacts/files/blob.bin`, file);
    await mlflow.post("runs/update", { run_id, status: "FINISHED", end_time: 1_700_000_001_000 });

    const history = { run_id, metric_key: "loss" };
    const points = await mlflow.get<{ metrics: readonly { value: number }[] }>("metrics/get-history", history);
    expect(points.metrics.map((point) => point.value)).toEqual([0.5, 0.25, 0.125]);
    const { runs } = await project.json<{ runs: readonly { run: { runId: string; params: object } }[] }>([
      ...["runs", "search", "params.depth = '3' and metrics.loss < 0.2"],
    ]);
    expect(runs.map(({ run }) => [run.runId, run.params])).toEqual([[run_id, { depth: "3" }]]);
    await project.json(["runs", "artifacts", "get", run_id, "files/blob.bin", "--output", "blob.bin"]);
    expect(content("blob.bin").equals(file)).toBe(true);
  });

  const pythonIt = withoutMlflow === undefined ? it : it.skip;
  const why = withoutMlflow === undefined ? "" : ` (skipped: ${withoutMlflow})`;

  pythonIt(`is logged to by MLflow's client${why}`, async () => {
    const logged = runPython<{ runId: string }>(api, "e2e/newcomer/log-run.py", project.directory);
    const loss = [0.5, 0.25, 0.125].map((value, step) => [step, value]);
    expect(logged).toMatchObject({ status: "FINISHED", params: { depth: "3" }, loss, notes: "from Python\n" });
    await project.json(["runs", "artifacts", "get", logged.runId, "files/notes.txt", "--output", "notes.back"]);
    expect(content("notes.back").toString()).toBe("from Python\n");
  });

  pythonIt(`is loaded by mlflow.pyfunc, which predicts the same${why}`, async () => {
    const file = join(project.directory, "rows.json");
    const { answers } = runPython<{ answers: readonly { label: boolean; probabilities: readonly number[] }[] }>(
      ...([api, "peers/mlflow-load.py", "models:/churn/1", file] as const),
    );
    const exported = join(project.directory, "safetensors");
    const byHand = forward(join(project.directory, "weights.safetensors"), exported, rows);
    expect(answers).toHaveLength(rows.length);
    expect(Math.max(...answers.map(({ probabilities }, i) => Math.abs(probabilities[1]! - byHand[i]!)))).toBeLessThan(
      1e-5,
    );
    expect(answers.every(({ label, probabilities }) => label === probabilities[1]! >= 0.5)).toBe(true);
  });

  it("gives a module the same digest as the checkout does", async () => {
    const moduleOf = async (runId: string) => {
      const answer = await (await fetch(`${api}/api/v1/training-runs/${runId}`)).json();
      return (answer as RunDetails).run.code.moduleSha256;
    };
    const checkout = join(ensureBuild(), "cli.js");
    const { runId } = await project.json<Shown>(["submit", "own.yaml"], [0], checkout);
    expect(await moduleOf(own.runId)).toMatch(/^[0-9a-f]{64}$/);
    expect(await moduleOf(runId)).toBe(await moduleOf(own.runId));
  });
});
