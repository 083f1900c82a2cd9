import { decideNextMove, hostLossReason, type JobOutcome, noCapacityReason } from "../../../core/runs/attempts";
import type { TrainingAttempt } from "../../../core/runs/shapes";
import type { TrainingFailure } from "../../../core/runs/training-task";

const attempt = (n: number, more: Partial<TrainingAttempt> = {}): TrainingAttempt => ({
  attempt: n,
  market: "spot",
  placement: "spread",
  workers: 2,
  jobId: `job-${n}`,
  status: "submitted",
  startedAt: "2026-01-01T00:00:00.000Z",
  ...more,
});
const onDemand = (n: number) => attempt(n, { market: "on-demand" });
const lost = (n: number) => attempt(n, { status: "failed", reason: hostLossReason });
const running: JobOutcome = { status: "running", hostLoss: false };
const exited = (reason: string): JobOutcome => ({ status: "failed", hostLoss: false, reason });
const failedJob = exited("Essential container in task exited");
const hostLost: JobOutcome = { status: "failed", hostLoss: true, reason: "Host EC2 (instance i-1) terminated." };
const failure = (retryable: boolean): TrainingFailure => ({
  runId: "run-1",
  code: "NON_FINITE_LOSS",
  message: "the loss is NaN at step 7",
  step: 7,
  retryable,
  failedAt: "2026-01-01T00:00:00.000Z",
});

describe("what to do about a run's training", () => {
  const base = { hasResult: false, failure: undefined, job: failedJob, attempts: [attempt(1)], retries: 1 };

  const waits = { move: "wait" };
  const onSpot = { move: "resubmit", market: "spot" };
  const isOnDemand = { move: "resubmit", market: "on-demand" };
  const fails = (code: string, message = "") => ({ move: "fail", code, message: expect.stringContaining(message) });
  const userCode = { ...failure(false), code: "USER_CODE" };
  const exitedOnce = attempt(1, { status: "failed", reason: "x" });
  const waitedOnce = attempt(1, { status: "failed", reason: noCapacityReason });
  const third = [lost(1), lost(2), attempt(3)];
  const hour = 3_600_000;
  const noCapacity = { why: noCapacityReason };

  it.each<[string, Partial<Parameters<typeof decideNextMove>[0]>, object]>([
    ["a result is success, whatever Batch says", { hasResult: true }, { move: "succeed" }],
    ["a running job is waited for", { job: running }, waits],
    ["a running job is waited for although a worker failed", { job: running, failure: failure(false) }, waits],
    ["a running job is not if user code failed on one worker", { job: running, failure: userCode }, fails("USER_CODE")],
    ["a first failure is tried again, the last time on-demand", {}, isOnDemand],
    ["of two retries the first stays on spot", { retries: 2 }, onSpot],
    ["code 133 is explained", { job: exited("with code 133"), retries: 0 }, fails("TRAINER_EXITED", "without end")],
    ["without retries it fails", { retries: 0 }, fails("TRAINER_EXITED")],
    // It is not tried again, and the setting to raise is named.
    ["too little memory", { job: exited("OutOfMemoryError: Container") }, fails("OUT_OF_MEMORY", "memoryMbPerWorker")],
    ["used up retries fail", { attempts: [exitedOnce, attempt(2)] }, fails("TRAINER_EXITED")],
    ["what would happen again is not tried again", { failure: failure(false) }, fails("NON_FINITE_LOSS")],
    ["a host's loss costs no retry", { job: hostLost, retries: 0 }, onSpot],
    ["the third loss goes on-demand", { job: hostLost, retries: 0, attempts: third }, isOnDemand],
    ["losses before do not count as the user's", { attempts: third }, isOnDemand],
    ["spot is waited for", { job: running, waitedMs: hour - 1, maxWaitMs: hour }, waits],
    ["and no longer", { job: running, waitedMs: hour, maxWaitMs: hour }, { move: "terminate", ...noCapacity }],
    ["an on-demand job is waited for", { job: running, waitedMs: 9, maxWaitMs: 1, attempts: [onDemand(1)] }, waits],
    ["no capacity costs no retry", { job: exited(noCapacityReason), retries: 0 }, { ...isOnDemand, ...noCapacity }],
    ["a wait before does not count as the user's", { attempts: [waitedOnce, onDemand(2)] }, isOnDemand],
  ])("%s", (_name, known, expected) => {
    expect(decideNextMove({ ...base, ...known })).toMatchObject(expected);
  });

  it("decides the same when the latest attempt was marked as failed by a call that died right after", () => {
    const marked = { ...base, attempts: [attempt(1, { status: "failed", reason: "x" })] };
    expect(decideNextMove(marked)).toEqual(decideNextMove(base));
  });
});
