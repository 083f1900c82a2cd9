import fs from "node:fs";
import { outcomeOf } from "../../../adapters/batch/training-jobs";
import { decideNextMove } from "../../../core/runs/attempts";
import { resourcesSchema } from "../../../core/runs/resources";
import { createMemoryGroup } from "../../support/memory-group";
import { buildTrainer } from "./build";
import { startCloud, type TrainerCloud } from "./cloud";
import { storeFeatures, storeTask } from "./task";
import { TrainerProcess } from "./trainer-process";

/** The smallest memory that the schema accepts for a job without a GPU. All other jobs have more. */
function smallest(): number {
  let mb = 256;
  while (!resourcesSchema.safeParse({ memoryMbPerWorker: mb }).success) mb += 256;
  return mb;
}

const probe = createMemoryGroup("probe", 64);
probe?.remove();
if (probe === undefined)
  process.stderr.write("skipped: this process may not create control groups with a memory limit\n");

/**
 * Trainers within a control group of the size of their job, as Docker limits a container. Address space is not limited
 * (`RLIMIT_AS`): V8 and TensorFlow reserve much more of it than they use.
 */
(probe === undefined ? describe.skip : describe)("a trainer within its job's memory", () => {
  const built = buildTrainer();
  let cloud: TrainerCloud;
  beforeAll(async () => {
    cloud = await startCloud();
    await storeFeatures(cloud.store);
  });
  afterAll(async () => {
    await cloud.close();
    fs.rmSync(built.folder, { recursive: true });
  });

  async function train(runId: string, limitMb: number, environment: Readonly<Record<string, string>> = {}) {
    await storeTask(cloud.store, runId, { workers: 1, backend: "auto" }, { epochs: 1 });
    const group = createMemoryGroup(runId, limitMb)!;
    const trainer = new TrainerProcess(built.nodeArguments, cloud, runId, 0, 1, 0, environment);
    group.add(trainer.pid);
    const code = await trainer.ended;
    const peak = Math.round(group.peakMb());
    while (fs.existsSync(`/proc/${trainer.pid}`)) await new Promise((tick) => setTimeout(tick, 5));
    group.remove();
    return { code, peak, trainer };
  }

  it("completes in the smallest memory that a job can have", async () => {
    const limitMb = smallest();
    for (const given of [{}, { gpusPerWorker: 1 }])
      expect(resourcesSchema.parse(given).memoryMbPerWorker).toBeGreaterThanOrEqual(limitMb);
    const { code, peak, trainer } = await train("run-least", limitMb);
    expect(`${code} ${code === 0 ? "" : trainer.transcript()}`).toBe("0 ");
    expect(peak).toBeLessThan(limitMb);
  });

  const decide = (container: { readonly exitCode: number; readonly reason?: string }) => {
    const ended = { status: "FAILED", statusReason: "Essential container in task exited", container } as const;
    const job = { ...ended, jobArn: "", jobId: "j", jobName: "", jobQueue: "", jobDefinition: "", startedAt: 0 };
    return decideNextMove({
      hasResult: false,
      failure: undefined,
      job: outcomeOf(job, [job]),
      attempts: [
        {
          attempt: 1,
          market: "spot",
          placement: "spread",
          workers: 1,
          status: "submitted",
          startedAt: "2026-01-01T00:00:00.000Z",
        },
      ],
      retries: 0,
    });
  };

  it("is killed at a limit that is too small, which ends the run with the setting to raise", async () => {
    const { code } = await train("run-small", 48);
    expect(code).toBe("SIGKILL"); // 128 + 9 for Docker
    expect(decide({ exitCode: 137, reason: "OutOfMemoryError: Container killed due to memory usage" })).toMatchObject({
      move: "fail",
      code: "OUT_OF_MEMORY",
      message: expect.stringContaining("Raise resources.memoryMbPerWorker"),
    });
  });

  it("aborts at the limit of V8's heap, and the run's message says what to look for", async () => {
    const { code, trainer } = await train("run-heap", 512, { NODE_OPTIONS: "--max-old-space-size=12" });
    expect(["SIGABRT", 134]).toContain(code);
    expect(trainer.errors.join("\n")).toContain("heap out of memory");
    expect(decide({ exitCode: 134 })).toMatchObject({
      move: "fail",
      code: "TRAINER_EXITED",
      message: expect.stringMatching(/'heap out of memory', raise resources\.memoryMbPerWorker/),
    });
  });
});
