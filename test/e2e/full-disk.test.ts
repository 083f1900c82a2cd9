import type { RunDetails } from "../../core/runs/shapes";
import { mountSmallDisk } from "../support/small-disk";
import { TestStack, toyCsv, toyJob, toySchema, until } from "./harness";

const stack = new TestStack();
const disk = mountSmallDisk(48, stack.data);

afterAll(async () => {
  await stack.run("down");
  disk?.unmount();
  await stack.remove();
});

async function refusedThenDone(call: () => Promise<{ readonly code: number; readonly stderr: string }>): Promise<void> {
  disk!.fill();
  try {
    const { code, stderr } = await call();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/disk|storage/i)]);
    expect(stderr).toContain("full");
  } finally {
    disk!.free();
  }
  const { code, stderr } = await call();
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("full")]);
}

(disk ? it : it.skip)(
  "a stack whose disk was full during push, training and promotion continues, and starts without repair",
  async () => {
    await stack.up();
    const schema = stack.file("schema.yaml", toySchema);
    const push = (name: string, rows: number) =>
      stack.run("datasets", "push", name, "--file", stack.file(`${name}.csv`, toyCsv(rows)), "--schema", schema);
    await refusedThenDone(() => push("toy", 1_200));

    // Checkpoints and metrics of two workers find no space for a while.
    const job = stack.file("job.yaml", toyJob(60, 2));
    const { runId } = await stack.json<{ runId: string }>(["submit", job]);
    await until("the training", async () => {
      const { run, progress } = await stack.get<RunDetails>(`/training-runs/${runId}`);
      if (run.failure) throw new Error(JSON.stringify(run.failure));
      return progress && progress.step >= 100 ? progress : undefined;
    });
    disk!.fill();
    await new Promise((wait) => setTimeout(wait, 3_000));
    disk!.free();
    expect(await stack.json(["runs", "watch", runId], [0, 1, 3])).toMatchObject({ status: "completed", step: 900 });
    const { points } = await stack.get<{ points: readonly { readonly step: number }[] }>(
      `/training-runs/${runId}/metrics?metric=train/loss`,
    );
    expect(points.map(({ step }) => step)).toEqual(Array.from({ length: 900 }, (_, i) => i + 1));

    await refusedThenDone(() => stack.run("models", "approve", "toy", "1", "--reason", "good", "--wait"));

    disk!.fill();
    expect((await push("other", 600)).code).toBe(1);
    expect(await stack.run("down")).toMatchObject({ code: 0 });
    disk!.free();
    await stack.up();
    expect(await push("other", 600)).toMatchObject({ code: 0 });
    expect(await stack.json(["models", "resolve", "toy"])).toMatchObject({ version: 1 });
  },
  240_000,
);
