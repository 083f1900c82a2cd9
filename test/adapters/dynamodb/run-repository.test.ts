import type { WorkerRecord } from "../../../core/training/run";
import type { RunRepository } from "../../../core/training/run-repository";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

const at = "2026-01-01T00:00:00.000Z";

describe("runs in DynamoDB", () => {
  let embedded: Embedded;
  let runs: RunRepository;
  beforeAll(async () => {
    embedded = await startEmbedded();
    runs = createTestPlatform(embedded).platform.runs;
  });
  afterAll(() => embedded.stop());

  it("creates once; the second answers the first's row", async () => {
    const run = runOf("run-create");
    expect(await runs.create(run)).toEqual({ created: true, run });
    const other = await runs.create({ ...run, createdBy: "somebody else" });
    expect(other.created).toBe(false);
    expect(other.run.createdBy).toBe("tester");
  });

  it("ends once: the first end stands, and phases come no more", async () => {
    await runs.create(runOf("run-end"));
    expect(await runs.enterPhase("run-end", "Evaluate", at)).toBe(true);
    expect((await runs.listOpen()).map(({ runId }) => runId)).toContain("run-end");
    const failure = { code: "X", message: "broken" };
    expect(await runs.conclude("run-end", { status: "failed", at, failure })).toBe(true);
    expect(await runs.conclude("run-end", { status: "completed", at })).toBe(false);
    expect(await runs.enterPhase("run-end", "Promote", at)).toBe(false);
    expect(await runs.find("run-end")).toMatchObject({ status: "failed", phase: "Evaluate", failure, endedAt: at });
    expect((await runs.listOpen()).map(({ runId }) => runId)).not.toContain("run-end");
  });

  it("one of many concurrent ends stands", async () => {
    await runs.create(runOf("run-race"));
    const ends = await Promise.all(
      (["completed", "failed", "killed"] as const).flatMap((status) =>
        [1, 2, 3].map(() => runs.conclude("run-race", { status, at })),
      ),
    );
    expect(ends.filter(Boolean)).toHaveLength(1);
  });

  it("knows nothing of a run that was never created", async () => {
    expect(await runs.find("run-none")).toBeUndefined();
    expect(await runs.findDetails("run-none")).toBeUndefined();
    expect(await runs.enterPhase("run-none", "Evaluate", at)).toBe(false);
    expect(await runs.conclude("run-none", { status: "failed", at })).toBe(false);
  });

  it("keeps the newest of a worker's states, whatever order they come in", async () => {
    const worker = (status: string, attempts: number): WorkerRecord => ({
      workerIndex: 3,
      jobId: "job-1:3",
      status,
      attempts: Array.from({ length: attempts }, () => ({ exitCode: 137 })),
    });
    await runs.create(runOf("run-worker"));
    const inTime = [
      worker("RUNNABLE", 0),
      worker("RUNNING", 0),
      worker("RUNNABLE", 1),
      worker("RUNNING", 1),
      worker("SUCCEEDED", 2),
    ];
    for (const order of [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [1, 4, 0, 4, 2, 3],
    ]) {
      for (const i of order) await runs.recordWorker("run-worker", inTime[i]);
      expect((await runs.findDetails("run-worker"))!.workers).toMatchObject([{ status: "SUCCEEDED" }]);
    }
  });

  it("progress never goes back", async () => {
    const progress = (step: number, generation = 1) => ({
      step,
      totalSteps: 10,
      epoch: 0,
      epochs: 1,
      generation,
      worldSize: 1,
      loss: 1,
      samplesPerSecond: 1,
      backend: "wasm" as const,
      workers: [],
    });
    await runs.create(runOf("run-progress"));
    for (const step of [1, 5, 3, 5, 4]) await runs.recordProgress("run-progress", progress(step));
    expect((await runs.findDetails("run-progress"))!.progress?.step).toBe(5);
    // A generation that went back to a checkpoint is the truth; what its predecessor said comes late.
    await runs.recordProgress("run-progress", progress(2, 2));
    await runs.recordProgress("run-progress", progress(9, 1));
    expect((await runs.findDetails("run-progress"))!.progress).toMatchObject({ step: 2, generation: 2 });
  });

  it("gives back numbers as numbers, however large: a loss on its way to infinity", async () => {
    await runs.create(runOf("run-explodes"));
    const metrics = { loss: 514_705_457_152_000_000_000 };
    const record = { step: "Evaluate", inputHash: "h", output: { metrics }, startedAt: "", finishedAt: "" } as const;
    await runs.recordStep("run-explodes", record);
    expect(JSON.parse(JSON.stringify((await runs.findDetails("run-explodes"))!.steps[0]!.output))).toEqual({ metrics });
  });
});
