import { objectKeys } from "../../../core/object-keys";
import { isoTime } from "../../../core/ports";
import { cancelRun } from "../../../core/training/close-run";
import { beginEvaluation, completeEvaluation, takeInEvaluation } from "../../../core/training/evaluation-job";
import { completeJob, takeJobEvent } from "../../../core/training/job-event";
import { reconcile } from "../../../core/training/reconcile";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

describe("a run's evaluation by a job", () => {
  const embedded = useEmbedded();
  let made = 0;

  /** A trial, which shares its training's job, whose evaluation was begun. */
  async function begun(inputHash = "h1") {
    const { platform, calls } = createTestPlatform(embedded);
    const runId = `run-e${++made}`;
    await platform.runs.create(runOf(runId, { status: "running", trial: { study: "s", number: 1 } }));
    await platform.runs.enterPhase(runId, "Evaluate", isoTime(platform.clock));
    await beginEvaluation(platform, runId, "token-1", inputHash);
    const finish = () =>
      platform.objects.put(
        objectKeys.evaluationResult(runId, inputHash),
        JSON.stringify({ runId, output: { task: "balanced", metrics: {} }, files: [] }),
      );
    return { platform, calls, runId, finish };
  }

  it("is submitted once, for one worker and no other trial, and has its place among the run's attempts", async () => {
    const { platform, calls, runId } = await begun();
    expect(await beginEvaluation(platform, runId, "token-2", "h1")).toEqual({ move: "wait" });
    expect(calls.submitted).toMatchObject([{ runId, attempt: 1, workers: 1, evaluation: "h1" }]);
    expect(calls.submitted[0]!.sharing).toBeUndefined();
    const { attempts } = (await platform.runs.findDetails(runId))!;
    expect(attempts).toMatchObject([{ attempt: 1, evaluation: "h1", workers: 1, status: "submitted" }]);
  });

  it("answers every waiting token when its result is stored, and its machine counts for the cost", async () => {
    const { platform, calls, runId } = await begun();
    await beginEvaluation(platform, runId, "token-2", "h1");
    calls.spans = [{ memberId: "m", startedAt: 0, stoppedAt: Date.parse("2026-01-01T01:00:00.000Z") }];
    const machine = { memberId: "m", instanceType: "g5.xlarge" };
    const output = { task: "balanced", metrics: {}, report: { sha256: "a".repeat(64), bytes: 1 } };
    const result = { runId, output, files: [], machine };
    await platform.objects.put(objectKeys.evaluationResult(runId, "h1"), JSON.stringify(result));
    expect(await completeJob(platform, runId)).toBe("succeed");
    expect(calls.succeeded).toEqual(["token-1", "token-2"].map((token) => ({ token, output: { runId } })));
    const [attempt] = (await platform.runs.findDetails(runId))!.attempts;
    expect(attempt).toMatchObject({ status: "succeeded", usage: { instanceTypes: ["g5.xlarge"] } });
    expect(attempt?.usage?.estimatedUsd).toBeGreaterThan(0);
  });

  it("is tried again as the training is: losses of hosts do not count, then the run's retries, then it fails", async () => {
    const { platform, calls, runId } = await begun();
    calls.job = { status: "failed", hostLoss: true, reason: "Host EC2 (instance i-1) terminated." };
    expect(await completeEvaluation(platform, runId)).toBe("resubmit");
    calls.job = { status: "failed", hostLoss: false, reason: "Essential container in task exited with code 127" };
    expect(await completeEvaluation(platform, runId)).toBe("resubmit");
    expect(await completeEvaluation(platform, runId)).toBe("fail");
    expect(calls.submitted.map(({ attempt, evaluation }) => [attempt, evaluation])).toEqual([
      [1, "h1"],
      [2, "h1"],
      [3, "h1"],
    ]);
    expect(calls.failed).toMatchObject([{ error: "TRAINER_EXITED", cause: expect.stringContaining("code 127") }]);
  });

  it("ends the run with the cause that the job recorded, where it would come again", async () => {
    const { platform, calls, runId } = await begun();
    const failure = { runId, code: "NON_FINITE_PREDICTION", message: "predicts NaN", retryable: false, failedAt: "" };
    await platform.objects.put(objectKeys.evaluationFailure(runId, "h1", `job-${runId}-1`), JSON.stringify(failure));
    calls.job = { status: "failed", hostLoss: false };
    expect(await completeEvaluation(platform, runId)).toBe("fail");
    expect(calls.failed).toEqual([{ token: "token-1", error: "NON_FINITE_PREDICTION", cause: "predicts NaN" }]);
  });

  it("begins again for another champion, with attempts of its own", async () => {
    const { platform, calls, runId, finish } = await begun();
    await finish();
    await completeEvaluation(platform, runId);
    expect(await beginEvaluation(platform, runId, "token-3", "h2")).toMatchObject({ attempt: 2 });
    expect(await completeEvaluation(platform, runId)).toBe("wait");
    expect(calls.submitted.map(({ evaluation }) => evaluation)).toEqual(["h1", "h2"]);
  });

  it("has the newest job definitions when it begins, and its later attempts keep them", async () => {
    const { platform, calls, runId } = await begun();
    calls.definitions = { single: "ringmaster-trainer:2", gang: "ringmaster-trainer-gang:2" };
    await beginEvaluation(platform, runId, "token-2", "h2");
    calls.definitions = { single: "ringmaster-trainer:3", gang: "ringmaster-trainer-gang:3" };
    calls.job = { status: "failed", hostLoss: true };
    expect(await completeEvaluation(platform, runId)).toBe("resubmit");
    expect(calls.submitted.map(({ definitions }) => definitions?.single)).toEqual(
      [1, 2, 2].map((revision) => `ringmaster-trainer:${revision}`),
    );
  });

  it("is kept alive each minute while it waits", async () => {
    const { platform, calls, runId } = await begun();
    await reconcile(platform, (await platform.runs.find(runId))!);
    expect(calls.heartbeats).toEqual(["token-1"]);
  });

  it("ends with a cancelled run, and gets no further attempt", async () => {
    const { platform, calls, runId, finish } = await begun();
    await cancelRun(platform, runId, "ana");
    expect(calls.terminated).toEqual([`job-${runId}-1`]);
    await finish();
    expect(await completeEvaluation(platform, runId)).toBe("wait");
    await expect(beginEvaluation(platform, runId, "token-2", "h1")).rejects.toMatchObject({ code: "RUN_ENDED" });
    expect(calls.submitted).toHaveLength(1);
  });

  it("does not take the place of a training's worker, whose log stays", async () => {
    const { platform, runId } = await begun();
    const worker = { workerIndex: 0, attempt: 1, status: "RUNNING", attempts: [] };
    await platform.runs.recordWorker(runId, { ...worker, jobId: "training" });
    await takeJobEvent(platform, "default", {
      ...{ runId, ended: false, evaluates: true },
      worker: { ...worker, jobId: "evaluation", attempt: 2 },
    });
    const { workers, run } = (await platform.runs.findDetails(runId))!;
    expect(workers.map(({ workerIndex, jobId }) => [workerIndex, jobId])).toEqual([
      [0, "training"],
      [run.job.resources.workers, "evaluation"],
    ]);
  });

  it("takes in the files that it names, and refuses a result whose file is missing", async () => {
    const { platform, runId } = await begun();
    const { objects } = platform;
    const content = await objects.putContent("elsewhere");
    const result = { runId, output: { report: content, task: "balanced" as const, metrics: {} }, files: [content] };
    expect(await takeInEvaluation(objects, result)).toBe(result.output);
    const missing = { sha256: "f".repeat(64), bytes: 3 };
    await expect(takeInEvaluation(objects, { ...result, files: [missing] })).rejects.toMatchObject({
      code: "CORRUPT_OBJECT",
    });
  });
});
