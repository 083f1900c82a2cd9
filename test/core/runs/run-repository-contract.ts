import type { RunRepository } from "../../../core/runs/run-repository";
import type { TrainingAttempt, WorkerRecord } from "../../../core/runs/shapes";
import { preparedFeatures, resultOf, runOf } from "../../support/fixtures";

const at = "2026-01-01T00:00:00.000Z";

export function runRepositoryContract(repository: () => RunRepository): void {
  let runs: RunRepository;
  beforeAll(() => {
    runs = repository();
  });

  it("creates once; the second answers the first's row", async () => {
    const run = runOf("run-create");
    expect(await runs.create(run)).toEqual({ created: true, run });
    const other = await runs.create({ ...run, createdBy: "another person" });
    expect(other.created).toBe(false);
    expect(other.run.createdBy).toBe("tester");
  });

  it("ends once: the first end stays, and no phase follows", async () => {
    await runs.create(runOf("run-end"));
    expect(await runs.enterPhase("run-end", "Evaluate", at)).toBe(true);
    expect((await runs.listOpen()).map(({ runId }) => runId)).toContain("run-end");
    const failure = { code: "X", message: "broken" };
    expect(await runs.close("run-end", { status: "failed", at, failure })).toBe(true);
    expect(await runs.close("run-end", { status: "completed", at })).toBe(false);
    expect(await runs.enterPhase("run-end", "Gate", at)).toBe(false);
    expect(await runs.find("run-end")).toMatchObject({ status: "failed", phase: "Evaluate", failure, endedAt: at });
    // Until its end was published and nothing of it is at work.
    expect((await runs.listOpen()).map(({ runId }) => runId)).toContain("run-end");
    expect((await runs.findDetails("run-end"))?.endPublished).toBeUndefined();
    await runs.markEndPublished("run-end");
    expect((await runs.findDetails("run-end"))?.endPublished).toBe(true);
    await runs.delist("run-end");
    await runs.markEndPublished("run-end");
    expect((await runs.listOpen()).map(({ runId }) => runId)).not.toContain("run-end");
  });

  it("one of many concurrent ends stands", async () => {
    await runs.create(runOf("run-race"));
    const ends = await Promise.all(
      (["completed", "failed", "killed"] as const).flatMap((status) =>
        [1, 2, 3].map(() => runs.close("run-race", { status, at })),
      ),
    );
    expect(ends.filter(Boolean)).toHaveLength(1);
  });

  it("knows nothing of a run that was never created", async () => {
    expect(await runs.find("run-none")).toBeUndefined();
    expect(await runs.findDetails("run-none")).toBeUndefined();
    expect(await runs.enterPhase("run-none", "Evaluate", at)).toBe(false);
    expect(await runs.close("run-none", { status: "failed", at })).toBe(false);
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
      for (const i of order) await runs.recordWorker("run-worker", inTime[i]!);
      expect((await runs.findDetails("run-worker"))!.workers).toMatchObject([{ status: "SUCCEEDED" }]);
    }
  });

  it("shows the wait of each attempt's job as queued, and sums the waits", async () => {
    const later = (seconds: number) => new Date(Date.parse(at) + 1_000 * seconds).toISOString();
    const shown = async () => {
      const { status, queuedAt, queuedMs } = (await runs.find("run-queued"))!;
      return [status, queuedAt, queuedMs];
    };
    await runs.create(runOf("run-queued"));
    await runs.enterPhase("run-queued", "LaunchTraining", at);
    expect(await shown()).toEqual(["running", undefined, undefined]);
    const attempt = { market: "spot", placement: "spread", workers: 1, status: "submitting" } as const;
    await runs.beginAttempt("run-queued", { ...attempt, attempt: 1, startedAt: later(1) });
    expect(await shown()).toEqual(["queued", later(1), undefined]);
    for (const repeated of [4, 9]) await runs.leaveQueue("run-queued", later(repeated));
    expect(await shown()).toEqual(["running", undefined, 3_000]);
    await runs.beginAttempt("run-queued", { ...attempt, attempt: 2, startedAt: later(10) });
    await runs.close("run-queued", { status: "killed", at: later(20) });
    expect(await shown()).toEqual(["killed", later(10), 3_000]);
    await runs.leaveQueue("run-queued", later(12));
    expect(await shown()).toEqual(["killed", undefined, 5_000]);
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
    const output = { ...resultOf("run-explodes"), metrics };
    await runs.recordStep("run-explodes", { ...preparedFeatures, step: "LaunchTraining", output });
    expect(JSON.parse(JSON.stringify((await runs.findDetails("run-explodes"))!.steps[0]!.output))).toEqual(output);
  });

  it("phases go forward only; the same again may be entered", async () => {
    await runs.create(runOf("run-phases"));
    const enter = (phase: "PrepareFeatures" | "LaunchTraining" | "Evaluate") =>
      runs.enterPhase("run-phases", phase, at);
    expect([await enter("LaunchTraining"), await enter("PrepareFeatures")]).toEqual([true, false]);
    expect([await enter("LaunchTraining"), await enter("Evaluate"), await enter("LaunchTraining")]).toEqual([
      true,
      true,
      false,
    ]);
    expect((await runs.find("run-phases"))!.phase).toBe("Evaluate");
  });

  it("goes back from the phase that it is in, and from no other", async () => {
    await runs.create(runOf("run-back"));
    const enter = (phase: "Evaluate" | "Register" | "Gate") => runs.enterPhase("run-back", phase, at);
    expect([await enter("Gate"), await enter("Evaluate")]).toEqual([true, false]);
    await runs.goBack("run-back", "Register", "Evaluate", at);
    expect([await enter("Evaluate"), (await runs.find("run-back"))!.phase]).toEqual([false, "Gate"]);
    await runs.goBack("run-back", "Gate", "Evaluate", at);
    expect([await enter("Evaluate"), await enter("Register")]).toEqual([true, true]);
    await runs.close("run-back", { status: "failed", at });
    await runs.goBack("run-back", "Register", "Evaluate", at);
    expect((await runs.find("run-back"))!.phase).toBe("Register");
  });

  it("keeps all tokens of a phase, each once", async () => {
    await runs.create(runOf("run-tokens"));
    expect(await runs.findTaskTokens("run-tokens", "LaunchTraining")).toEqual([]);
    for (const token of ["a", "b", "a"]) await runs.putTaskToken("run-tokens", "LaunchTraining", token);
    expect([...(await runs.findTaskTokens("run-tokens", "LaunchTraining"))].sort()).toEqual(["a", "b"]);
    expect(await runs.findTaskTokens("run-tokens", "Evaluate")).toEqual([]);
  });

  it("an earlier attempt's late news of a worker do not replace a later one's", async () => {
    await runs.create(runOf("run-late"));
    const worker = (attempt: number, status: string, attempts = 0): WorkerRecord => ({
      workerIndex: 0,
      jobId: `job-${attempt}`,
      attempt,
      status,
      attempts: Array.from({ length: attempts }, () => ({ reason: "Host EC2 (i-1) terminated." })),
    });
    expect(await runs.recordWorker("run-late", worker(1, "RUNNING"))).toEqual({ newer: true });
    expect(await runs.recordWorker("run-late", worker(2, "RUNNABLE"))).toEqual({
      newer: true,
      before: worker(1, "RUNNING"),
    });
    expect(await runs.recordWorker("run-late", worker(1, "FAILED", 10))).toEqual({ newer: false });
  });

  describe("attempts", () => {
    const attempt = (more: Partial<TrainingAttempt> = {}): TrainingAttempt => ({
      attempt: 1,
      market: "spot",
      placement: "spread",
      workers: 1,
      status: "submitting",
      startedAt: at,
      claimedAt: at,
      ...more,
    });
    const training = async (runId: string) => {
      await runs.create(runOf(runId));
      await runs.enterPhase(runId, "LaunchTraining", at);
    };
    const rowOf = async (runId: string) => (await runs.findDetails(runId))!.attempts[0];

    it("begin once, of a run that trains", async () => {
      await runs.create(runOf("run-begin"));
      expect(await runs.beginAttempt("run-begin", attempt())).toBe(false);
      await runs.enterPhase("run-begin", "LaunchTraining", at);
      expect([
        await runs.beginAttempt("run-begin", attempt()),
        await runs.beginAttempt("run-begin", attempt()),
      ]).toEqual([true, false]);
      await runs.enterPhase("run-begin", "Evaluate", at);
      expect(await runs.beginAttempt("run-begin", attempt({ attempt: 2 }))).toBe(false);
    });

    it("are taken over by one of many, and only from whom they were seen with", async () => {
      await training("run-over");
      await runs.beginAttempt("run-over", attempt());
      const later = "2026-01-01T00:01:00.000Z";
      const taken = await Promise.all([1, 2, 3].map(() => runs.takeOverAttempt("run-over", 1, at, later)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await runs.takeOverAttempt("run-over", 1, at, later)).toBe(false);
      expect(await rowOf("run-over")).toMatchObject({ startedAt: at, claimedAt: later });
    });

    it("get one job, and none behind the run's end", async () => {
      await training("run-job");
      await runs.beginAttempt("run-job", attempt());
      expect([await runs.recordJob("run-job", 1, "job-1"), await runs.recordJob("run-job", 1, "job-2")]).toEqual([
        true,
        false,
      ]);
      expect(await rowOf("run-job")).toMatchObject({ status: "submitted", jobId: "job-1" });
      expect(await runs.takeOverAttempt("run-job", 1, at, at)).toBe(false);

      await training("run-killed");
      await runs.beginAttempt("run-killed", attempt());
      await runs.close("run-killed", { status: "killed", at });
      expect(await runs.recordJob("run-killed", 1, "job-1")).toBe(false);
      expect((await runs.listOpen()).map(({ runId }) => runId)).toContain("run-killed");
      await runs.delist("run-killed");
      expect((await runs.listOpen()).map(({ runId }) => runId)).not.toContain("run-killed");
    });

    it("end once, and are counted once in their team's month", async () => {
      const usage = {
        workerSeconds: 60,
        gpuSeconds: 30,
        instanceTypes: ["c6i.large"],
        estimatedUsd: 0.25,
        pricesOf: at,
      };
      await training("run-ended");
      await runs.beginAttempt("run-ended", attempt());
      const before = await runs.monthUsage("2031-05");
      const end = { status: "failed", at: "2031-05-31T23:59:59.999Z", usage, jobId: "job-9" } as const;
      const ends = await Promise.all(
        [1, 2, 3].map((n) => runs.completeAttempt("run-ended", 1, { ...end, reason: `reason ${n}` })),
      );
      expect(ends.filter(Boolean)).toHaveLength(1);
      expect(await rowOf("run-ended")).toMatchObject({ status: "failed", endedAt: end.at, jobId: "job-9", usage });
      expect(before).toEqual({ workerSeconds: 0, gpuSeconds: 0, estimatedUsd: 0 });
      expect(await runs.monthUsage("2031-05")).toEqual({ workerSeconds: 60, gpuSeconds: 30, estimatedUsd: 0.25 });
      expect(await runs.completeAttempt("run-ended", 7, end)).toBe(false);
    });

    it("of many runs that end at once are all counted", async () => {
      const usage = { workerSeconds: 1, gpuSeconds: 0, instanceTypes: [] };
      const ids = Array.from({ length: 8 }, (_, i) => `run-many-${i}`);
      for (const runId of ids) {
        await training(runId);
        await runs.beginAttempt(runId, attempt());
      }
      const end = { status: "succeeded", at: "2031-06-01T00:00:00.000Z", usage } as const;
      await Promise.all(ids.map((runId) => runs.completeAttempt(runId, 1, end)));
      expect((await runs.monthUsage("2031-06")).workerSeconds).toBe(8);
    });
  });

  it("keeps the first record of a process's machine and of a generation's recovery", async () => {
    await runs.create(runOf("run-machines"));
    const machine = { memberId: "job-1:0/1", instanceType: "c6i.large" };
    await runs.recordMachine("run-machines", machine);
    await runs.recordMachine("run-machines", { ...machine, instanceType: "other" });
    const recovery = { generation: 2, step: 7, seconds: 1.5 };
    expect(await runs.recordRecovery("run-machines", recovery)).toBe(true);
    expect(await runs.recordRecovery("run-machines", { ...recovery, seconds: 9 })).toBe(false);
    expect(await runs.recordRecovery("run-machines", { generation: 3, step: 7 })).toBe(true);
    expect(await runs.recordRecovery("run-machines", { generation: 3, step: 7 })).toBe(false);
    const measured = { generation: 3, step: 7, seconds: 2 };
    expect(await runs.recordRecovery("run-machines", measured)).toBe(true);
    expect(await runs.recordRecovery("run-machines", { generation: 3, step: 7 })).toBe(false);
    const recoveries = [recovery, measured];
    expect(await runs.findDetails("run-machines")).toMatchObject({ machines: [machine], recoveries });
  });

  it("keeps one warning of each code, behind those of its steps", async () => {
    await runs.create(runOf("run-warnings"));
    await runs.recordWarning("run-warnings", { code: "BATCH_SIZE", message: "first" });
    await runs.recordWarning("run-warnings", { code: "BATCH_SIZE", message: "second" });
    const leaked = { code: "LEAKED_TEST_ROWS", message: "3 of 40 test rows" };
    const output = { rowCount: 40, profile: { sha256: "a".repeat(64), bytes: 1 }, warnings: [leaked] };
    await runs.recordStep("run-warnings", { ...preparedFeatures, step: "ValidateDataset", output });
    await runs.recordStep("run-warnings", preparedFeatures);
    expect((await runs.findDetails("run-warnings"))?.warnings).toEqual([
      leaked,
      { code: "BATCH_SIZE", message: "second" },
    ]);
  });

  it("notes once that a process's machine will be interrupted, where the machine is known", async () => {
    await runs.create(runOf("run-notices"));
    const machine = { memberId: "job-1:0/1", instanceType: "g6.xlarge", instanceId: "i-1" };
    const note = (memberId: string, at: string) => runs.recordInterruptionNotice("run-notices", memberId, at);
    expect(await note(machine.memberId, "2026-01-01T00:00:00.000Z")).toBe(false);
    await runs.recordMachine("run-notices", machine);
    expect(await note(machine.memberId, "2026-01-01T00:00:01.000Z")).toBe(true);
    expect(await note(machine.memberId, "2026-01-01T00:00:02.000Z")).toBe(false);
    expect(await note("job-1:0/2", "2026-01-01T00:00:02.000Z")).toBe(false);
    await runs.recordMachine("run-notices", machine);
    expect((await runs.findDetails("run-notices"))?.machines).toEqual([
      { ...machine, interruptionNoticeAt: "2026-01-01T00:00:01.000Z" },
    ]);
  });
}
