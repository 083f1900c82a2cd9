import { sha256 } from "../../../core/digest";
import { workersBusyReason } from "../../../core/runs/attempts";
import type { Run } from "../../../core/runs/shapes";
import { beginTraining } from "../../../core/training/begin-training";
import { cancelRun, closeInterruptedRun } from "../../../core/training/close-run";
import { completeTraining } from "../../../core/training/complete-training";
import { takeJobEvent } from "../../../core/training/job-event";
import { launchAttempt, nextAttempt } from "../../../core/training/launch";
import { resumeRun } from "../../../core/training/pause";
import { reconcile } from "../../../core/training/reconcile";
import { trainingKeys } from "../../../core/training/training-step";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { createTrainable, preparedFeatures, runOf, storeResult } from "../../support/fixtures";

describe("the end of a run's training", () => {
  const embedded = useEmbedded();
  let made = 0;

  async function launched(given: Partial<Run> = {}) {
    const { platform, calls } = createTestPlatform(embedded);
    const runId = `run-f${++made}`;
    await createTrainable(platform.runs, runOf(runId, given));
    const details = (await platform.runs.findDetails(runId))!;
    const definitions = await platform.jobs.definitions();
    await launchAttempt(platform, details.run, { ...nextAttempt(details), definitions });
    return { platform, calls, runId };
  }

  it("answers the state machine with the result, and keeps it for other runs", async () => {
    const { platform, calls, runId } = await launched();
    await storeResult(platform.objects, runId);
    expect(await completeTraining(platform, runId)).toBe("succeed");
    expect(calls.succeeded).toEqual([{ token: `token-${runId}`, output: { runId } }]);
    const details = (await platform.runs.findDetails(runId))!;
    const record = details.steps.find(({ step }) => step === "LaunchTraining")!;
    expect(record.output).toMatchObject({ weightsSha256: sha256("weights"), steps: 10 });
    expect(await platform.cache.find("LaunchTraining", record.inputHash)).toMatchObject({ runId });
    expect(details.attempts).toMatchObject([{ attempt: 1, status: "succeeded" }]);
  });

  it("is reused by a run with the same inputs, but not by one that pauses: a population needs its checkpoint", async () => {
    const { platform, runId } = await launched({ job: { ...runOf("r").job, seed: 77 } });
    await storeResult(platform.objects, runId);
    await completeTraining(platform, runId);
    const run = (await platform.runs.find(runId))!;
    const begin = async (changes: Partial<Run>) => {
      const other = `run-f${++made}`;
      await platform.runs.create({ ...runOf(other), job: run.job, ...changes });
      await platform.runs.recordStep(other, preparedFeatures);
      return beginTraining(platform, other, "token");
    };
    expect(await begin({})).toEqual({ reusedFrom: runId });
    expect(await begin({ pauseAt: 1 })).toMatchObject({ attempt: 1 });
  });

  it("ends the job of a training whose user code failed on one worker", async () => {
    const { platform, calls, runId } = await launched();
    const failure = { runId, code: "USER_CODE", message: "loss() threw", retryable: false, failedAt: "x" };
    await platform.objects.put(trainingKeys(runId).failure(`job-${runId}-1`), JSON.stringify(failure));
    calls.job = { status: "running", hostLoss: false };
    expect(await completeTraining(platform, runId)).toBe("fail");
    expect(calls.terminated).toEqual([`job-${runId}-1`]);
    expect(calls.submitted).toHaveLength(1);
    expect(calls.failed).toEqual([{ token: `token-${runId}`, error: "USER_CODE", cause: "loss() threw" }]);
  });

  it("shows a job without a worker as queued, and never calls a busy machine a lack of spot hosts", async () => {
    const { platform: still, calls, runId } = await launched();
    const start = Date.parse((await still.runs.find(runId))!.queuedAt!);
    const later = 2 * 60 * 60_000;
    const platform = { ...still, clock: { now: () => start + later } };
    const shown = async () => {
      const { status, queuedAt, queuedMs } = (await platform.runs.find(runId))!;
      return { status, waits: queuedAt !== undefined, queuedMs };
    };
    calls.job = { status: "running", hostLoss: false, reason: `${workersBusyReason}: 2 vCPUs` };
    expect(await completeTraining(platform, runId)).toBe("wait");
    expect(await shown()).toEqual({ status: "queued", waits: true, queuedMs: undefined });
    const worker = {
      ...{ workerIndex: 0, jobId: `job-${runId}-1`, attempt: 1, status: "RUNNING" },
      ...{ startedAt: start + later, attempts: [] },
    };
    await takeJobEvent(platform, "default", { runId, worker, ended: false });
    expect(await shown()).toEqual({ status: "running", waits: false, queuedMs: later });
  });

  describe("without spot capacity", () => {
    const waiting = { status: "running", hostLoss: false } as const;
    /** Returns a clock that is that much later than the attempt's start. */
    const later = (minutes: number) => ({ now: () => Date.parse("2026-01-01T00:00:00.000Z") + minutes * 60_000 });

    it.each([5, undefined])(
      "goes on-demand after the maximum wait of %j, and uses no retry",
      async (maxWaitMinutes) => {
        const base = runOf("x").job;
        const job = { ...base, retries: 0, resources: { ...base.resources, workers: 4, maxWaitMinutes } };
        const most = maxWaitMinutes ?? 60;
        const { platform, calls, runId } = await launched({ job });
        calls.job = waiting;
        expect(await completeTraining({ ...platform, clock: later(most - 1) }, runId)).toBe("wait");
        expect(await completeTraining({ ...platform, clock: later(most + 1) }, runId)).toBe("terminate");
        expect(calls.terminated).toEqual([`job-${runId}-1`]);
        const { warnings } = (await platform.runs.findDetails(runId))!;
        expect(warnings).toMatchObject([
          { code: "NO_SPOT_CAPACITY", message: expect.stringContaining(`${most} minutes`) },
        ]);
        calls.job = { status: "failed", hostLoss: false, reason: "no spot capacity in time" };
        expect(await completeTraining({ ...platform, clock: later(most + 1) }, runId)).toBe("resubmit");
        expect(calls.submitted.map(({ attempt, market, placement }) => [attempt, market, placement])).toEqual([
          [1, "spot", "spread"],
          [2, "on-demand", "spread"],
        ]);
        calls.job = waiting;
        expect(await completeTraining({ ...platform, clock: later(600) }, runId)).toBe("wait");
      },
    );

    it("does not end a trial that trains in a job which another trial began", async () => {
      const { platform, calls, runId } = await launched();
      calls.job = waiting;
      const worker = { rank: 0, memberId: `job-${runId}-1/1`, workerIndex: 0, host: "h", pid: 1, step: 1 };
      const details = (await platform.runs.findDetails(runId))!;
      const runs = {
        ...platform.runs,
        findDetails: async () => ({
          ...details,
          progress: {
            ...{ step: 1, totalSteps: 2, epoch: 0, epochs: 1, generation: 1, worldSize: 1, loss: 1 },
            ...{ samplesPerSecond: 1, backend: "wasm" as const, workers: [{ ...worker, state: "training" as const }] },
          },
        }),
      };
      expect(await completeTraining({ ...platform, runs, clock: later(90) }, runId)).toBe("wait");
      expect(calls.terminated).toEqual([]);
    });
  });

  it("all attempts have the job definitions of the first, whatever was deployed since", async () => {
    const { platform, calls, runId } = await launched();
    const first = calls.definitions;
    calls.definitions = { single: "ringmaster-trainer:2", gang: "ringmaster-trainer-gang:2" };
    calls.job = { status: "failed", hostLoss: true, reason: "Host EC2 (instance i-1) terminated." };
    for (let loss = 0; loss < 3; loss += 1) await completeTraining(platform, runId);
    expect(calls.submitted.map(({ definitions }) => definitions)).toEqual([first, first, first, first]);
    const { attempts } = (await platform.runs.findDetails(runId))!;
    expect(attempts.map(({ definitions }) => definitions)).toEqual([first, first, first, first]);
  });

  it("an end that EventBridge did not accept is published by a later sweep, although the run's work is stopped", async () => {
    const { platform, calls, runId } = await launched();
    const refused = () => Promise.reject(new Error("no bus"));
    const runEvents = { publishRunEnded: refused, publishRunPaused: refused };
    await expect(cancelRun({ ...platform, runEvents }, runId, "ada")).rejects.toThrow("no bus");
    expect(calls.terminated).toEqual([`job-${runId}-1`]);
    const listed = async () => (await platform.runs.listOpen()).find((run) => run.runId === runId);
    const left = (await listed())!;
    expect(left.status).toBe("killed");
    await reconcile(platform, left);
    expect(calls.notable.map(({ id }) => id)).toEqual([`run-ended-${runId}`]);
    expect(await listed()).toBeUndefined();
  });

  it("a cancellation that comes as the run completes says so: the first end stands", async () => {
    const { platform, runId } = await launched();
    const executions: typeof platform.executions = { ...platform.executions, stop: async () => undefined };
    const runs: typeof platform.runs = {
      ...platform.runs,
      async close(id, end) {
        await platform.runs.close(id, { status: "completed", at: end.at });
        return platform.runs.close(id, end);
      },
    };
    await expect(cancelRun({ ...platform, runs, executions }, runId, "ada")).rejects.toThrow("completed");
    expect((await platform.runs.find(runId))!.status).toBe("completed");
  });

  it("a pause ends the segment once, and a late event of it changes nothing", async () => {
    const { platform, calls, runId } = await launched({ pauseAt: 1 });
    const pause = {
      runId,
      segment: 0,
      epoch: 1,
      finishedSteps: 4,
      weightsSha256: "0".repeat(64),
      pausedAt: "2026-01-01",
    };
    await platform.objects.put(`runs/${runId}/training/pause-0.json`, JSON.stringify(pause));
    for (let delivery = 0; delivery < 3; delivery += 1) await completeTraining(platform, runId);
    expect(await platform.runs.find(runId)).toMatchObject({ status: "paused", pauseAt: 1 });
    expect(calls.paused.map(({ id, epoch }) => [id, epoch])).toEqual([[`run-paused-${runId}-0`, 1]]);
    expect(calls.succeeded.map(({ output }) => output)).toEqual([{ runId, paused: true }]);
    expect((await platform.runs.listOpen()).some((run) => run.runId === runId)).toBe(false);

    const resumed = await resumeRun(platform, { runId, after: 0, workers: 2 });
    expect(resumed).toMatchObject({ status: "queued", segment: 1, workers: 2 });
    expect(resumed.pauseAt).toBeUndefined();
    expect(await resumeRun(platform, { runId, after: 0, workers: 2 })).toMatchObject({ segment: 1 });
    expect(calls.started.filter((name) => name === `${runId}-1`)).toHaveLength(2); // the name makes the second a no-op
    await closeInterruptedRun(platform, { runId, segment: 0 }, "TIMED_OUT", undefined, undefined);
    expect(await platform.runs.find(runId)).toMatchObject({ status: "queued", segment: 1 });
    expect(await completeTraining(platform, runId)).toBe("wait"); // the job of segment 0 says nothing about segment 1
  });

  it("a pause whose process died is finished by the sweep; a paused run can be cancelled", async () => {
    const base = runOf("x").job;
    const resources = { ...base.resources, workers: 2, gpusPerWorker: 1, gpu: { count: 2 } };
    const { platform, calls, runId } = await launched({ pauseAt: 1, job: { ...base, resources } });
    expect(calls.submitted).toMatchObject([{ workers: 2, workersPerHost: 2, placement: "spread" }]);
    await platform.runs.pause(runId, { segment: 0, at: "2026-01-01T00:00:00.000Z" });
    const listed = (await platform.runs.listOpen()).find((run) => run.runId === runId)!;
    expect(await reconcile(platform, listed)).toBe("paused");
    expect(calls.paused).toHaveLength(1);
    await expect(resumeRun(platform, { runId, pauseAt: 1 })).rejects.toThrow("must be more than the 1 finished epochs");
    await expect(resumeRun(platform, { runId, workers: 99 })).rejects.toThrow("at most resources.microBatches");
    await expect(resumeRun(platform, { runId, workers: 3 })).rejects.toThrow("a multiple of resources.gpu.count (2)");
    expect(await cancelRun(platform, runId, "ada")).toMatchObject({ status: "killed" });
    await expect(resumeRun(platform, { runId })).rejects.toThrow("only a paused run can be resumed");
  });

  /** A run that may train for two hours, whose only worker starts now. */
  async function limited() {
    const { platform, calls, runId } = await launched({ job: { ...runOf("run-any").job, limits: { hours: 2 } } });
    const startedAt = platform.clock.now();
    const worker = { workerIndex: 0, jobId: `job-${runId}-1`, attempt: 1, status: "RUNNING", startedAt, attempts: [] };
    await platform.runs.recordWorker(runId, worker);
    const at = (hours: number) => ({ ...platform, clock: { now: () => startedAt + hours * 3_600_000 } });
    return { platform, calls, runId, run: (await platform.runs.find(runId))!, at };
  }

  it("a run beyond a limit of its job is killed once, and its job ends", async () => {
    const { platform, calls, runId, run, at } = await limited();
    expect(await reconcile(at(2), run)).toBe("wait");
    // A training whose end cannot be read does not prevent it.
    const broken = { ...platform.objects, find: () => Promise.reject(new Error("no bucket")) };
    expect(await reconcile({ ...at(2.5), objects: broken }, run)).toBe("limit exceeded");
    expect(calls.terminated).toEqual([`job-${runId}-1`]);
    const ended = (await platform.runs.find(runId))!;
    const message = expect.stringContaining("trained for 2.5 hours, and limits.hours is 2");
    expect(ended).toMatchObject({ status: "killed", failure: { code: "LIMIT_HOURS", message } });
    expect(await reconcile(at(3), ended)).toBe("cleaned up");
    expect(calls.terminated).toHaveLength(1);
  });

  it("a run beyond a limit is killed by the event of its lost job, instead of another attempt", async () => {
    const { platform, calls, runId, run, at } = await limited();
    calls.job = { status: "failed", hostLoss: true };
    expect(await takeJobEvent(at(3), run.team, { runId, ended: true })).toBe("limit exceeded");
    expect(await platform.runs.find(runId)).toMatchObject({ status: "killed", failure: { code: "LIMIT_HOURS" } });
    expect(calls.submitted).toHaveLength(1);
  });
});
