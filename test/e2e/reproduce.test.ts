import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison } from "../../api/compare/comparison";
import type { ExportManifest } from "../../api/export/export-version";
import type { LineageGraph } from "../../api/lineage/shapes";
import type { Reproduction } from "../../api/reproduction/shapes";
import type { describeRun } from "../../cli/run-description";
import type { CheckpointSummary } from "../../core/runs/shapes";
import { TestStack, toyCsv, toyJob, toySchema } from "./harness";

type Shown = ReturnType<typeof describeRun>;

describe("after a run", () => {
  const stack = TestStack.of("reproducers");
  let first: Shown;
  let reproduction: string;

  beforeAll(async () => {
    await stack.up();
    await stack.json([
      "datasets",
      "push",
      "toy",
      "--file",
      stack.file("toy.csv", toyCsv(600)),
      "--schema",
      stack.file("schema.yaml", toySchema),
    ]);
    first = await stack.json<Shown>(["submit", stack.file("job.yaml", toyJob(20)), "--wait"], [0, 1, 3]);
    expect(first.failure).toBeUndefined();
  }, 240_000);
  afterAll(() => stack.remove());

  it("it is reproduced to the bit, and no version is made of it", async () => {
    const found = await stack.json<Reproduction>(["runs", "reproduce", first.runId, "--wait"]);
    expect(found).toMatchObject({
      of: first.runId,
      verdict: "identical",
      reproductionSha256: first.weightsSha256,
      differences: [],
    });
    reproduction = found.runId;
    const again = await stack.json<Shown>(["runs", "show", found.runId]);
    expect(again).toMatchObject({
      status: "completed",
      reused: [],
      run: { reproducedFrom: first.runId, noCache: true },
    });
    expect(again.outcome).toBeUndefined();
    expect(again.steps.map(({ step }) => step)).not.toContain("Register");
    expect((await stack.json<{ versions: unknown[] }>(["models", "show", "toy"])).versions).toHaveLength(1);
  }, 240_000);

  it("its newest three checkpoints and the best are kept, and those of its reproduction and on three workers", async () => {
    const path = `/training-runs/${first.runId}/metrics?metric=validation/loss`;
    const { points } = await stack.get<{ points: readonly { step: number; value: number }[] }>(path);
    const losses = points.map(({ value }) => value);
    const best = 1 + losses.indexOf(Math.min(...losses));
    const kept = [...new Set([best, 18, 19, 20])].sort((a, b) => a - b);

    const threeWorkers = ["--set", "resources.workers=3", "--no-cache", "--wait"];
    const wide = await stack.json<Shown>(["submit", join(stack.directory, "job.yaml"), ...threeWorkers], [0, 1, 3]);
    expect(losses).toHaveLength(20);
    const lists = await Promise.all(
      [first.runId, reproduction, wide.runId].map((runId) =>
        stack.json<{ checkpoints: readonly CheckpointSummary[] }>(["runs", "checkpoints", runId]),
      ),
    );
    const states = lists.map(({ checkpoints }) =>
      checkpoints.map(({ epoch, finishedSteps, weightsSha256 }) => ({ epoch, finishedSteps, weightsSha256 })),
    );
    expect(states[0]!.map(({ epoch, finishedSteps }) => [epoch, finishedSteps])).toEqual(kept.map((n) => [n, 7 * n]));
    expect(states[1]).toEqual(states[0]);
    expect(states[2]).toEqual(states[0]);
    expect(states[0]!.at(-1)!.weightsSha256).toBe(first.weightsSha256);
  }, 240_000);

  it("another seed gives other weights, and is named with the first step that shows it", async () => {
    const other = await stack.json<Shown>(
      ["submit", join(stack.directory, "job.yaml"), "--set", "seed=4", "--wait"],
      [0, 1, 3],
    );
    const found = await stack.json<Reproduction>(["runs", "reproduction", other.runId, "--of", first.runId], [3]);
    expect(found).toMatchObject({
      verdict: "different",
      differences: [{ kind: "parameters", field: "seed", original: "3", reproduction: "4" }],
      agreement: { steps: 1, first: { by: "metric", step: 1, metric: "train/loss" } },
    });
    expect(await stack.run("runs", "reproduction", other.runId)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("reproduces no other run"),
    });
  }, 240_000);

  it("a weight decay with adam and a step decay take effect, and are recorded with the defaults that apply", async () => {
    const job = join(stack.directory, "job.yaml");
    const settings = ["weightDecay=0.1", "schedule=step", "stepSize=3", "gamma=0.5"];
    const sets = settings.flatMap((setting) => ["--set", `hyperparameters.${setting}`]);
    const decayed = await stack.json<Shown>(["submit", job, ...sets, "--wait"], [0, 1, 3]);
    expect(decayed.failure).toBeUndefined();
    const valuesOf = async (runId: string, metric: string) => {
      const path = `/training-runs/${runId}/metrics?metric=${metric}`;
      return (await stack.get<{ points: readonly { value: number }[] }>(path)).points.map(({ value }) => value);
    };
    const rates = await valuesOf(decayed.runId, "train/learning-rate");
    expect(rates.slice(0, 7)).toEqual([0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.0025]);
    // The learning rates of the first three steps are those of the constant schedule: only the weight decay differs.
    const [plain, penalised] = [await valuesOf(first.runId, "train/loss"), await valuesOf(decayed.runId, "train/loss")];
    expect(penalised[0]).toBe(plain[0]);
    expect(penalised[2]).not.toBe(plain[2]);
    expect(decayed.run.job.hyperparameters).toMatchObject({ beta1: 0.9, beta2: 0.999, epsilon: 1e-8, gamma: 0.5 });
    const { params } = await stack.json<Comparison>(["runs", "compare", first.runId, decayed.runId]);
    const differing = Object.fromEntries(params.differing.map(({ name, values }) => [name, values]));
    expect(differing).toMatchObject({
      "hyperparameters.weightDecay": ["0", "0.1"],
      "hyperparameters.schedule": ["constant", "step"],
      "hyperparameters.stepSize": [null, "3"],
      "hyperparameters.gamma": [null, "0.5"],
    });
    expect(params.common).toContainEqual({ name: "hyperparameters.epsilon", value: "1e-8" });
    expect(await stack.run("submit", job, "--set", "hyperparameters.nesterov=true")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("hyperparameters.nesterov is true, but must be left out where optimizer is adam"),
    });
  }, 240_000);

  it.each(["onnx", "tfjs", "safetensors"])(
    "its model leaves as %s, checked, and once",
    async (format) => {
      const out = join(stack.directory, format);
      const ask = () =>
        stack.json<{ export: ExportManifest }>(["models", "export", "toy@1", "--format", format, "--out", out]);
      const { export: made } = await ask();
      expect((await ask()).export).toEqual(made);
      for (const { path, bytes } of made.files) {
        expect(existsSync(join(out, path))).toBe(true);
        expect(readFileSync(join(out, path))).toHaveLength(bytes);
      }
      expect(
        made.files.filter(({ difference }) => difference !== undefined && difference <= 1e-5).length,
      ).toBeGreaterThan(0);
      const { artifacts } = await stack.get<{ artifacts: { path: string }[] }>(
        `/runs/${first.runId}/artifacts?path=exports/${format}`,
      );
      expect(artifacts.map(({ path }) => path).sort()).toEqual(
        made.files.map(({ path }) => `exports/${format}/${path}`).sort(),
      );
    },
    60_000,
  );

  it("its model goes back to the raw file, and the file on to the model", async () => {
    const forward = await stack.json<LineageGraph>(["lineage", "file", join(stack.directory, "toy.csv")]);
    const links = forward.edges.map(({ from, to }) => `${from} → ${to}`);
    expect(links).toEqual(
      expect.arrayContaining([
        `${forward.root} → dataset:toy@1`,
        `dataset:toy@1 → run:${first.runId}`,
        `run:${first.runId} → model-version:toy@1`,
      ]),
    );
    const back = await stack.run("lineage", "model", "toy@1");
    expect(back.stdout).toContain(`run ${first.runId}`);
    expect(back.stdout).toMatch(/file [0-9a-f]{12} {2}toy\.csv, rows 0–599/);
    expect(await stack.run("lineage", "file", "nowhere.csv")).toMatchObject({ code: 2 });
  });
});
