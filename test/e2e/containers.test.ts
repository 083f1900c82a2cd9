import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { describeRun } from "../../cli/run-description";
import { TestStack, toyCsv, toyJob, toySchema } from "./harness";

type Shown = ReturnType<typeof describeRun>;

describe("a script that knows nothing of the platform", () => {
  const stack = TestStack.of("containers");
  const model = "model: { type: container, command: [node, train.js], code: src }";
  let job: string;

  beforeAll(async () => {
    await stack.up();
    const toy = ["--file", stack.file("toy.csv", toyCsv(600)), "--schema", stack.file("schema.yaml", toySchema)];
    await stack.json(["datasets", "push", "toy", ...toy]);
    mkdirSync(join(stack.directory, "src"));
    copyFileSync(join(__dirname, "../support/centroids.js"), join(stack.directory, "src/train.js"));
    job = stack.file(
      "job.yaml",
      toyJob(1, 2)
        .replace(/model: .*/, model)
        .replace("registerAs: toy", "registerAs: any"),
    );
  }, 240_000);
  afterAll(() => stack.remove());

  it("trains on two workers, and its model is evaluated, gated, registered and promoted as any other", async () => {
    const run = await stack.json<Shown>(["submit", job, "--wait"], [0, 1, 3]);
    expect(run).toMatchObject({ status: "completed", outcome: { decision: "registered" } });
    const path = `/training-runs/${run.runId}`;
    const { points } = await stack.get<{ points: readonly object[] }>(`${path}/metrics?metric=train/loss`);
    expect(points).toMatchObject([{ step: 7, value: 0.25 }]);
    expect((await stack.run("runs", "logs", run.runId)).stdout).toMatch(/rank 1 of 2, secrets: 0/);
    const show = await stack.json<{ versions: readonly { metrics: Record<string, number>; framework: string }[] }>([
      ...["models", "show", "any"],
    ]);
    expect(show.versions[0]).toMatchObject({ framework: "container" });
    expect(show.versions[0]!.metrics["accuracy"]).toBeGreaterThan(0.8);

    const approved = await stack.json(["models", "approve", "any", "1", "--reason", "fine", "--wait"]);
    expect(approved).toMatchObject({ stage: "production" });
    const own = stack.file("own.yaml", toyJob(10).replace("registerAs: toy", "registerAs: any"));
    const challenger = await stack.json<Shown>(["submit", own, "--wait"], [0, 3]);
    expect(challenger.status).toBe("completed");
    // The champion is compared by its stored predictions.
    const { versions } = await stack.json<{ versions: readonly object[] }>(["models", "show", "any"]);
    expect(versions[0]).toMatchObject({ version: 2, framework: "ringmaster", gate: { champion: 1 } });
  }, 240_000);

  it.each([
    ["ends with another code", "model.options.wrong=exit", "COMMAND_FAILED", "ended with code 3 on rank"],
    ["omits a row of its predictions", "model.options.wrong=rows", "BAD_PREDICTIONS", "one row for each of the 60"],
  ])(
    "a command that %s fails its run with the rule",
    async (_name, setting, code, text) => {
      const options = ["--set", setting, "--set", "retries=0", "--set", "resources.workers=1", "--wait"];
      const run = await stack.json<Shown>(["submit", job, ...options], [1]);
      expect(run.failure?.message).toContain(text);
      expect(JSON.stringify(run.failure)).toContain(code);
    },
    240_000,
  );

  it.each([
    ["code outside of any folder", "model.code=nowhere", "must be a folder that exists"],
    ["an image without a digest", "model.image=python:3", "must name an image by its digest"],
    [
      "a variable of the trainer",
      "model.env.RANK=none",
      "must be the name of a variable, and none that the trainer sets",
    ],
    [
      "a setting of the platform's own models",
      "resources.shardOptimizer=true",
      "must be left out where model.type is container",
    ],
  ])("%s is refused", async (_name, setting, rule) => {
    const result = await stack.run("submit", job, "--set", setting);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(rule);
  });

  it("predictions and exports of its version are refused with the reason", async () => {
    const rows = stack.file("rows.json", '[{ "x1": 1, "x2": 1, "x3": 1, "colour": "red" }]');
    for (const command of [
      ["models", "predict", "any/1", "--file", rows],
      ["models", "export", "any/1", "--format", "onnx"],
    ]) {
      const result = await stack.run(...command);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain("is the model of a container");
    }
  }, 60_000);
});
