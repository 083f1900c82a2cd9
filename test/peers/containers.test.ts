import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import type { describeRun } from "../../cli/run-description";
import { TestStack } from "../e2e/harness";

type Shown = ReturnType<typeof describeRun>;

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const finds = (module: string) => spawnSync(python, ["-c", `import ${module}`]).status === 0;
const root = join(__dirname, "../..");

describe("unmodified scripts of other frameworks", () => {
  const stack = new TestStack(undefined, { PATH: `${dirname(python)}:${process.env["PATH"]}` });

  beforeAll(async () => {
    await stack.up();
    const data = join(root, "node_modules/vega-datasets/data/penguins.json");
    const schema = join(root, "examples/penguins/schema.yaml");
    await stack.json(["datasets", "push", "penguins", "--file", data, "--schema", schema]);
  }, 120_000);
  afterAll(() => stack.remove());

  it.each([
    ["sklearn", "sklearn", "penguins-forest"],
    ["pytorch", "torch", "penguins-torch"],
  ])(
    "examples/%s is trained, gated, approved and promoted",
    async (example, module, model) => {
      if (!finds(module)) {
        process.stderr.write(
          `skipped: ${python} cannot import ${module}; name one that can in RINGMASTER_PEERS_PYTHON\n`,
        );
        return;
      }
      const run = await stack.json<Shown>(["submit", join(root, "examples", example, "job.yaml"), "--wait"], [0, 1, 3]);
      expect(run.failure).toBeUndefined();
      expect(run).toMatchObject({ status: "completed", outcome: { decision: "registered" } });
      const approved = await stack.json(["models", "approve", model, "1", "--reason", "fine", "--wait"]);
      expect(approved).toMatchObject({ stage: "production" });
      if (example === "sklearn" && finds("mlflow")) {
        const path = `/training-runs/${run.runId}/metrics?metric=validation/accuracy`;
        expect(await stack.get(path)).toMatchObject({ points: [{ step: 1 }] });
      }
    },
    240_000,
  );
});
