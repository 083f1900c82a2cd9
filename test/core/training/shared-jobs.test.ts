import { createSharedJobs } from "../../../adapters/dynamodb/shared-jobs";
import { Table } from "../../../adapters/dynamodb/table";
import type { TrainingJobs } from "../../../core/runs/ports";
import type { Run } from "../../../core/runs/shapes";
import { continueJob, endSharedJob } from "../../../core/training/continue-job";
import { jobRequestOf, launchAttempt, nextAttempt, takeOverAttempt } from "../../../core/training/launch";
import { resumeRun } from "../../../core/training/pause";
import { type SharedJob, type SharedJobs, sharingOf, withSharedJobs } from "../../../core/training/shared-jobs";
import { trainingKeys } from "../../../core/training/training-step";
import { localConfig } from "../../../stack/settings";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { createTrainable, runOf, storeResult } from "../../support/fixtures";
import { ManualClock } from "../../support/manual-clock";

const at = "2026-01-01T00:00:00.000Z";
const epoch = Date.parse(at);

describe("a job that trains several trials", () => {
  const embedded = useEmbedded();
  let made = 0;

  /** A study whose trials are launched one after another. Batch's calls are recorded. */
  function world() {
    const clock = new ManualClock(epoch);
    const { platform, calls } = createTestPlatform(embedded, clock);
    const study = `study-${++made}`;
    const shared = createSharedJobs(new Table(embedded.dynamodb, localConfig().tables.catalog));
    const batch = platform.jobs as TrainingJobs;
    const status = { study: "running" };
    const ports = {
      ...platform,
      jobs: withSharedJobs(batch, shared, clock),
      sharedJobs: shared as SharedJobs,
      studies: { find: async () => ({ status: status.study }) },
      keys: { keyOf: async (runId: string) => `key-${runId}`, find: async (runId: string) => `key-${runId}` },
    };
    let trials = 0;
    async function prepared(given: Partial<Run> = {}): Promise<string> {
      const number = trials++;
      const runId = `run-shared${made}n${number}`;
      const run = { ...runOf(runId), trial: { study, number }, ...given };
      const resources = { ...run.job.resources, workers: 1 };
      await createTrainable(platform.runs, { ...run, job: { ...run.job, resources } });
      return runId;
    }
    const detailsOf = async (runId: string) => (await platform.runs.findDetails(runId))!;
    async function launched(given: Partial<Run> = {}): Promise<{ runId: string; jobId: string }> {
      const runId = await prepared(given);
      const details = await detailsOf(runId);
      const attempt = await launchAttempt(ports, details.run, nextAttempt(details));
      return { runId, jobId: attempt!.jobId! };
    }
    /** Does what the trainer does after it has stored its result. */
    const ask = async (runId: string, jobId: string, leave = false) =>
      continueJob(ports, { runId, jobId, segment: 0, runKey: `key-${runId}`, leave });
    async function trained(runId: string): Promise<void> {
      await storeResult(platform.objects, runId);
    }
    /** The first trial's run, which has ended, and its job, which waits for another. */
    async function waiting(): Promise<{ runId: string; jobId: string }> {
      const first = await launched();
      await trained(first.runId);
      await ask(first.runId, first.jobId);
      return first;
    }
    return { platform, calls, clock, ports, shared, status, prepared, launched, ask, trained, waiting, detailsOf };
  }

  it("reads only its own record and the study's while it waits, and records each second and a half that it is alive", async () => {
    const { ports, shared, status, clock, ask, waiting } = world();
    const { runId, jobId } = await waiting();
    const idle = await shared.find(jobId);
    const { runs } = ports;
    Object.assign(ports, { runs: { ...runs, findDetails: () => Promise.reject(new Error("the run was read")) } });
    clock.advance(1_499);
    expect(await ask(runId, jobId)).toEqual({});
    expect(await shared.find(jobId)).toEqual(idle);
    Object.assign(ports, { runs });
    clock.advance(1);
    expect(await ask(runId, jobId)).toEqual({});
    expect(await shared.find(jobId)).toEqual({ ...idle, seenAt: epoch + 1_500, revision: 2 });
    status.study = "stopped";
    expect(await ask(runId, jobId)).toEqual({ leave: true });
  });

  it("completes the trial that has ended, waits, and gets the next one without a new job", async () => {
    const { calls, launched, ask, trained, detailsOf } = world();
    const first = await launched();
    await trained(first.runId);
    expect(await ask(first.runId, first.jobId)).toEqual({});
    expect(calls.succeeded.map(({ token }) => token)).toEqual([`token-${first.runId}`]);
    expect((await detailsOf(first.runId)).workers).toMatchObject([{ status: "SUCCEEDED" }]);

    const second = await launched();
    expect([second.jobId, calls.submitted.length]).toEqual([first.jobId, 1]);
    const next = { runId: second.runId, runKey: `key-${second.runId}` };
    expect(await ask(first.runId, first.jobId)).toEqual({ next });
    // A trainer that was restarted asks again.
    expect(await ask(first.runId, first.jobId)).toEqual({ next });
    expect((await detailsOf(second.runId)).workers).toMatchObject([{ jobId: first.jobId, status: "RUNNING" }]);

    await trained(second.runId);
    expect(await ask(second.runId, first.jobId)).toEqual({});
    expect(calls.succeeded).toHaveLength(2);
  });

  it("waits for the next segment of its own run, which has been resumed and has no attempt yet", async () => {
    const { ports, platform, launched, ask, detailsOf } = world();
    const { runId, jobId } = await launched({ pauseAt: 1 });
    const pause = { runId, segment: 0, epoch: 1, finishedSteps: 5, weightsSha256: "a".repeat(64), pausedAt: at };
    await platform.objects.put(trainingKeys(runId, 0).pause, JSON.stringify(pause));
    expect(await ask(runId, jobId)).toEqual({});
    expect((await detailsOf(runId)).run.status).toBe("paused");
    await resumeRun(ports, { runId });
    expect(await ask(runId, jobId)).toEqual({});

    await platform.runs.enterPhase(runId, "LaunchTraining", at);
    const details = await detailsOf(runId);
    const attempt = await launchAttempt(ports, details.run, nextAttempt(details));
    expect(attempt).toMatchObject({ jobId, segment: 1 });
    expect(await ask(runId, jobId)).toEqual({ next: { runId, segment: 1, runKey: `key-${runId}` } });
  });

  it("is taken by one of two trials at the same time", async () => {
    const { calls, launched, waiting } = world();
    const first = await waiting();
    const [one, other] = await Promise.all([launched(), launched()]);
    expect([one.jobId, other.jobId].filter((jobId) => jobId === first.jobId)).toHaveLength(1);
    expect(calls.submitted).toHaveLength(2);
  });

  it("gets no trial once its trainer is silent, and none of another study or machine", async () => {
    const { clock, launched, waiting } = world();
    const first = await waiting();
    const other = { study: "another", number: 0 };
    expect((await launched({ trial: other })).jobId).not.toBe(first.jobId);
    clock.advance(10_000);
    expect((await launched()).jobId).not.toBe(first.jobId);
  });

  it("ends when its trainer leaves, and a trial that was assigned before is trained", async () => {
    const { calls, launched, ask, trained, shared, waiting } = world();
    const first = await waiting();
    const second = await launched();
    expect(await ask(first.runId, first.jobId, true)).toMatchObject({ next: { runId: second.runId } });
    await trained(second.runId);
    expect(await ask(second.runId, first.jobId, true)).toEqual({ leave: true });
    expect(await shared.find(first.jobId)).toBeUndefined();
    expect((await launched()).jobId).not.toBe(first.jobId);
    expect(calls.submitted).toHaveLength(2);
  });

  it("is not stopped by the end of a run that it no longer trains", async () => {
    const { ports, calls, launched, waiting } = world();
    const first = await waiting();
    await ports.jobs.terminate(first.jobId, "the run has ended", first.runId);
    const second = await launched();
    await ports.jobs.terminate(first.jobId, "the run has ended", first.runId);
    expect(calls.terminated).toEqual([]);
    await ports.jobs.terminate(first.jobId, "cancelled", second.runId);
    expect(calls.terminated).toEqual([first.jobId]);
  });

  it("leaves its current trial to a new job when it is lost", async () => {
    const { ports, calls, launched, detailsOf, shared, waiting } = world();
    const first = await waiting();
    const second = await launched();
    calls.job = { status: "failed", hostLoss: true, reason: "Host EC2 (instance i-0) terminated." };
    await endSharedJob(ports, first.jobId, first.runId);
    expect((await detailsOf(second.runId)).attempts).toMatchObject([
      { attempt: 1, jobId: first.jobId, status: "failed", reason: "host lost" },
      { attempt: 2, status: "submitted", jobId: expect.not.stringMatching(first.jobId) },
    ]);
    expect(await shared.find(first.jobId)).toBeUndefined();
  });

  it.each(["succeeded", "failed"] as const)(
    "does not use up a retry of its current trial when it has %s without the trial's result",
    async (status) => {
      const { ports, calls, launched, detailsOf, waiting } = world();
      const first = await waiting();
      const second = await launched();
      calls.job = { status, hostLoss: false, reason: "Essential container in task exited" };
      await endSharedJob(ports, first.jobId, first.runId);
      expect((await detailsOf(second.runId)).attempts).toMatchObject([
        { reason: "host lost" },
        { status: "submitted" },
      ]);
    },
  );

  it("is found again by a process that continues after one that died before the record", async () => {
    const { ports, clock, calls, prepared, detailsOf, waiting } = world();
    const first = await waiting();
    const runId = await prepared();
    const dying = { ...ports, runs: { ...ports.runs, recordJob: () => Promise.reject(new Error("killed")) } };
    await expect(launchAttempt(dying, (await detailsOf(runId)).run, { attempt: 1, market: "spot" })).rejects.toThrow();
    clock.advance(60_000);
    const { run, attempts } = await detailsOf(runId);
    expect(await takeOverAttempt(ports, run, attempts[0]!)).toMatchObject({ jobId: first.jobId });
    expect(calls.submitted).toHaveLength(1);
  });

  it("refuses another run's key, and names no secret for a run that it does not train", async () => {
    const { ports, launched, ask } = world();
    const first = await launched();
    const other = await launched();
    const wrong = { runId: first.runId, jobId: first.jobId, segment: 0, runKey: `key-${other.runId}`, leave: false };
    await expect(continueJob(ports, wrong)).rejects.toMatchObject({ code: "RUN_KEY_REFUSED" });
    expect(await ask(first.runId, other.jobId)).toEqual({ leave: true });
  });

  it("is not shared by trainings of several workers, or by runs without a study", () => {
    const run = { ...runOf("run-1"), trial: { study: "s", number: 0 } };
    const one = { market: "spot", placement: "spread", workers: 1 } as const;
    expect(sharingOf(run, one)).toMatch(/^[0-9a-f]{64}$/);
    expect(sharingOf(run, { ...one, workers: 2 })).toBeUndefined();
    expect(sharingOf({ ...run, trial: undefined }, one)).toBeUndefined();
    const model = { type: "module", path: "model.ts", options: {} } as const;
    const ofModule = { ...run, job: { ...run.job, model } } as Run;
    const attempt = { attempt: 1, market: "spot", placement: "spread", workers: 1 } as const;
    expect(jobRequestOf(ofModule, attempt)).toMatchObject({ sharing: sharingOf(run, one), processPerTraining: true });
    expect(jobRequestOf(run, attempt)).toMatchObject({ sharing: sharingOf(run, one), processPerTraining: false });
    expect(sharingOf(run, { ...one, market: "on-demand" })).not.toBe(sharingOf(run, one));
  });

  it("stores a job once for each revision", async () => {
    const { shared } = world();
    const job: SharedJob = {
      ...{ jobId: `job-${made}`, sharing: `digest-${made}`, study: "rates", idle: true, seenAt: epoch, revision: 1 },
      current: { runId: "run-1", attempt: 1 },
    };
    expect([await shared.save(job), await shared.save(job)]).toEqual([true, false]);
    expect([await shared.save({ ...job, revision: 2 }), await shared.remove(job)]).toEqual([true, false]);
    expect(await shared.list(job.sharing)).toEqual([{ ...job, revision: 2 }]);
    expect(await shared.remove({ ...job, revision: 2 })).toBe(true);
  });
});
