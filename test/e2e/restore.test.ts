import { join } from "node:path";
import type { describeRun } from "../../cli/run-description";
import { objectKeys } from "../../core/object-keys";
import type { CheckpointSummary, Run } from "../../core/runs/shapes";
import { localConfig } from "../../local/settings";
import { flipBit, objectFiles } from "../support/damage";
import { TestStack, toyCsv, toyJob, toySchema } from "./harness";

type Shown = ReturnType<typeof describeRun>;

/** Disables the gates, which are not tested here. */
const ends = [0, 3];

describe("a run restored from another's checkpoint", () => {
  const stack = new TestStack();
  beforeAll(() => stack.up());
  afterAll(() => stack.remove());

  it("ends with the same weights, and says where it began", async () => {
    const csv = stack.file("toy.csv", toyCsv(1_200));
    const schema = stack.file("schema.yaml", toySchema);
    await stack.json(["datasets", "push", "toy", "--file", csv, "--schema", schema]);
    const { runId } = await stack.json<{ runId: string }>(["submit", stack.file("job.yaml", toyJob(6))]);
    const whole = await stack.json<Shown>(["runs", "watch", runId], ends);

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
});
