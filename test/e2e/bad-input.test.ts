import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { platform } from "node:os";
import { TestStack, toyCsv, toyJob, toySchema } from "./harness";

/** Each thing that a person gets wrong: exit code 2, a message that says what, by which rule and what next; nothing created. */
describe("bad input", () => {
  const stack = TestStack.of("careless");
  let job: string;
  beforeAll(async () => {
    await stack.up();
    job = stack.file("job.yaml", toyJob(1));
    await push("toy", toyCsv(300), toySchema);
    // Columns of a dataset that no run has read may change.
    const { runId } = await stack.json<{ runId: string }>(["submit", job]);
    await stack.json(["runs", "cancel", runId]);
  });
  afterAll(() => stack.remove());

  const push = (name: string, csv: string, schema: string) =>
    stack.run(
      "datasets",
      "push",
      name,
      "--file",
      stack.file(`${name}.csv`, csv),
      "--schema",
      stack.file(`${name}.yaml`, schema),
    );
  const counts = async () => ({
    runs: (await stack.get<{ runs: unknown[] }>("/training-runs")).runs.length,
    datasets: (await stack.get<{ items: unknown[] }>("/datasets")).items.length,
  });

  it.each<[string, () => Promise<{ code: number; stderr: string }>, RegExp]>([
    ["an unknown dataset", () => stack.run("submit", job, "--set", "dataset=nothing"), /nothing/],
    ["an unknown version", () => stack.run("submit", job, "--set", "dataset=toy@7"), /7/],
    [
      "a hyperparameter out of range",
      () => stack.run("submit", job, "--set", "hyperparameters.learningRate=-1"),
      /learningRate is -1, but must be more than 0/,
    ],
    [
      "more workers than micro-batches",
      () => stack.run("submit", job, "--set", "resources.workers=64"),
      /workers is 64, but must be at most resources.microBatches \(8\)/,
    ],
    [
      "a metric that the task does not have",
      () => stack.run("submit", job, "--set", "evaluation.thresholds.acuracy=0.9"),
      /thresholds\.acuracy is 0\.9, but must name a metric of this task: accuracy, precision, recall, f1, .*logLoss/,
    ],
    ["an override that is none", () => stack.run("submit", job, "--set", "workers"), /PATH=VALUE/],
    ["a job file that is not there", () => stack.run("submit", "nowhere.yaml"), /nowhere.yaml/],
    ["no YAML", () => stack.run("submit", stack.file("bad.yaml", "a: [1,\nb: 2")), /not YAML|line/],
    [
      "two mistakes at once",
      () =>
        stack.run(
          "submit",
          stack.file("two.yaml", "experiment: Toy\ndataset: toy\nmodel: { type: mlp, hiden: [1] }\n"),
        ),
      /experiment[\s\S]*hiden|hiden[\s\S]*experiment/,
    ],
    ["an unknown command", () => stack.run("frobnicate"), /unknown command/],
    ["an unknown run", () => stack.run("runs", "show", "run-0"), /no run "run-0"/],
    ["an unknown model", () => stack.run("models", "resolve", "nobody"), /no model "nobody"/],
    [
      "a version that is no number",
      () => stack.run("models", "approve", "toy", "one"),
      /must be a (positive )?whole number/,
    ],
    ["a port that is none", () => stack.run("up", "--port", "seventy"), /must be a port/],
    ["an empty dataset", () => push("empty", "x1,x2,x3,colour,label\n", toySchema), /empty|no rows/i],
    ["a NaN label", () => push("nan", "x1,x2,x3,colour,label\n1,2,3,red,NaN\n1,2,3,red,0\n", toySchema), /label/],
    [
      "a value of 100,000 levels",
      () => {
        const row = (x: string, i: number) => `{"x": ${x}, "label": ${i % 2}}\n`;
        const rows = Array.from({ length: 40 }, (_, i) => row(String(i), i)).join("");
        const deep = row("[".repeat(100_000) + "]".repeat(100_000), 1);
        return stack.run(
          "datasets",
          "push",
          "deep",
          "--file",
          stack.file("deep.ndjson", rows + deep),
          "--label",
          "label",
        );
      },
      /row 41 must have at most 64 levels/,
    ],
    [
      "a setting of many levels",
      () => stack.run("submit", job, "--set", `model.hidden=${"[".repeat(3_000)}`),
      /64 levels/,
    ],
    ["a missing label", () => push("missing", "x1,x2,x3,colour,label\n1,2,3,red,\n1,2,3,red,0\n", toySchema), /label/],
    ["a column that is not there", () => push("narrow", "x1,x2\n1,2\n", toySchema), /x3|colour|label/],
    ["text where a number must be", () => push("text", "x1,x2,x3,colour,label\nabc,2,3,red,1\n", toySchema), /x1/],
    [
      "a changed schema",
      () => push("toy", toyCsv(300), toySchema.replace("name: x3, type: float", "name: x3, type: string")),
      /x3/,
    ],
    [
      "a schema without a label",
      () => push("unlabelled", toyCsv(30), toySchema.replace("role: label", "role: feature")),
      /label/,
    ],
  ])("%s", async (_name, attempt, message) => {
    const before = await counts();
    const result = await attempt();
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toMatch(/\n\s+at /);
    expect(result.code).toBe(2);
    expect(await counts()).toEqual(before);
  });

  it("a deprecated version", async () => {
    await push("old", toyCsv(300), toySchema);
    expect((await stack.run("datasets", "deprecate", "old@1", "--reason", "labels were wrong")).code).toBe(0);
    const result = await stack.run("submit", job, "--set", "dataset=old@1");
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("labels were wrong") });
  });

  it("a port that is taken is named", async () => {
    const other = new TestStack();
    const squatter = createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => squatter.once("listening", listening));
    const { port } = squatter.address() as { port: number };
    const result = await other.run("up", "--detach", "--port", String(port), "--api-port", "0");
    squatter.close();
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
    await other.remove();
  });

  it("a data directory that cannot be used is described in one sentence", async () => {
    const other = new TestStack();
    const up = ["up", "--detach", "--port", "0", "--api-port", "0"];
    const refused = async (why: RegExp): Promise<void> => {
      // A process of its own: one that goes on would keep the log open, and so the small disk.
      const { code, stderr } = await other.start(...up).ended;
      expect([code, stderr.trim().split("\n").length]).toEqual([1, 1]);
      expect(stderr).toMatch(why);
      expect(stderr).toContain("--data DIRECTORY");
    };
    writeFileSync(other.data, "");
    await refused(/cannot be used as the data directory/);
    rmSync(other.data);
    // A real small disk and a real read-only one: root on Linux alone may have them.
    const mounts = platform() === "linux" && process.getuid?.() === 0 && mounted(other.data, "size=64k");
    if (mounts) {
      await refused(/the disk that holds .* is full: free some space/);
      execFileSync("mount", ["-o", "remount,ro", other.data]);
      await refused(/read-only file system/);
      execFileSync("umount", [other.data]);
    }
    await other.remove();
  });

  it("with --json the error is a document too", async () => {
    const { code, stdout } = await stack.run("runs", "show", "run-0", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  it("where no stack runs, the message says how to start one", async () => {
    const nowhere = new TestStack();
    const result = await nowhere.run("runs", "list", "--api", "http://127.0.0.1:1");
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("ringmaster up");
    await nowhere.remove();
  });

  it("a batch size above the training rows is a warning, on submit and of the run", async () => {
    const large = ["submit", job, "--set", "hyperparameters.batchSize=248"];
    const { code, stdout } = await stack.run(...large);
    const message =
      "hyperparameters.batchSize is 248, more than the 240 training rows of toy@1: each epoch is one step, whose batch " +
      "repeats rows until it is full. Set a batch size of at most 240.";
    expect(code).toBe(0);
    expect(stdout).toContain(`warning: ${message}`);
    const runId = /run-\w+/.exec(stdout)![0];
    await stack.json(["runs", "cancel", runId]);
    expect((await stack.run("runs", "show", runId)).stdout).toContain(message);
    const shown = await stack.json<{ warnings: unknown }>(["runs", "show", runId]);
    expect(shown.warnings).toEqual([{ code: "BATCH_SIZE", message }]);

    const fitting = await stack.json<{ runId: string; warnings: unknown }>([
      ...large.slice(0, 3),
      "hyperparameters.batchSize=240",
    ]);
    expect(fitting.warnings).toEqual([]);
    await stack.json(["runs", "cancel", fitting.runId]);
  });
});

/** Whether a small disk could be mounted there. */
function mounted(directory: string, options: string): boolean {
  mkdirSync(directory);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
