import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { describeRun } from "../../cli/commands/runs";
import type { RunDetails } from "../../client/api-client";
import { ensureBuild } from "../../scripts/build.js";
import { csvOf, customers, job, model, schema, wrongModel } from "./newcomer/files";
import { Project } from "./newcomer/project";

type Shown = ReturnType<typeof describeRun> & { readonly awaited: readonly { readonly kind: string }[] };

/** The path of a newcomer: an empty directory, the packed command line, data and a model of one's own. */
describe("a newcomer", () => {
  const project = new Project();
  beforeAll(() => project.install(), 300_000);
  afterAll(() => project.remove());

  it("runs the installed command", () => {
    const { version } = JSON.parse(readFileSync(resolve(__dirname, "../../package.json"), "utf8"));
    expect(project.execute("npx", "--no-install", "ringmaster", "--version")).toBe(`${version}\n`);
  });

  it.each([
    { moduleResolution: "bundler", module: "esnext" },
    { moduleResolution: "node16", module: "node16" },
  ])("has the types of a model of one's own: %j", (options) => {
    project.file("model.ts", model);
    project.file("wrong.ts", wrongModel);
    expect(project.checkTypes(options, "model.ts")).toBe("");
    const messages = project.checkTypes(options, "wrong.ts").match(/^wrong\.ts\((\d+),\d+\): error TS\d+/gm);
    expect(messages?.map((message) => message.replace(/,\d+/, ""))).toEqual([
      "wrong.ts(3): error TS2322",
      "wrong.ts(4): error TS2339",
      "wrong.ts(5): error TS2322",
    ]);
  });

  async function moduleOf(runId: string): Promise<string | undefined> {
    const { api } = await project.json<{ api: string }>(["status"]);
    const answer = await (await fetch(`${api}/api/v1/training-runs/${runId}`)).json();
    return (answer as RunDetails).run.code.moduleSha256;
  }

  it("trains that model on a CSV", async () => {
    project.file("customers.csv", csvOf(customers(400)));
    project.file("schema.yaml", schema);
    project.file("job.yaml", job("own", "{ type: module, path: model.ts, options: { units: 8 } }"));
    await project.json(["up", "--detach", "--port", "0", "--api-port", "0"]);
    await project.json(["datasets", "push", "customers", "--file", "customers.csv", "--schema", "schema.yaml"]);
    const run = await project.json<Shown>(["submit", "job.yaml", "--wait"]);
    expect(run.awaited.map(({ kind }) => kind)).toEqual(["approval"]);
    const module = await moduleOf(run.runId);
    expect(module).toMatch(/^[0-9a-f]{64}$/);
    const losses = run.metrics.find(({ metric }) => metric === "train/loss")!;
    expect(losses.last).toBeLessThan(0.5 * losses.max);

    // The checkout's command line makes the same bundle of it: its run computes nothing again.
    const same = await project.json<Shown>(["submit", "job.yaml", "--wait"], [0], join(ensureBuild(), "cli.js"));
    expect(await moduleOf(same.runId)).toBe(module);
    expect(same.reused.map(({ step }) => step)).toContain("LaunchTraining");
  }, 120_000);
});
