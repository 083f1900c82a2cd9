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
const failedJob: JobOutcome = { status: "failed", hostLoss: false, reason: "Essential container in task exited" };
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

  it.each<[string, Partial<Parameters<typeof decideNextMove>[0]>, object]>([
    ["a result is success, whatever Batch says", { hasResult: true }, { move: "succeed" }],
    ["a running job is waited for", { job: { status: "running", hostLoss: false } }, { move: "wait" }],
    [
      "a running job is waited for although a worker has recorded a failure",
      { job: { status: "running", hostLoss: false }, failure: failure(false) },
      { move: "wait" },
    ],
    [
      "a running job whose user code failed on one worker is not waited for",
      { job: { status: "running", hostLoss: false }, failure: { ...failure(false), code: "USER_CODE" } },
      { move: "fail", code: "USER_CODE" },
    ],
    ["a first failure is tried again, the last time on-demand", {}, { move: "resubmit", market: "on-demand" }],
    ["of two retries the first stays on spot", { retries: 2 }, { move: "resubmit", market: "spot" }],
    [
      "code 133 is explained",
      { job: { ...failedJob, reason: "exited with code 133" }, retries: 0 },
      { move: "fail", code: "TRAINER_EXITED", message: expect.stringContaining("an array that grows without end") },
    ],
    ["without retries it fails", { retries: 0 }, { move: "fail", code: "TRAINER_EXITED" }],
    [
      "a container that exceeded its memory is not tried again, and the setting to raise is named",
      { job: { status: "failed", hostLoss: false, reason: "with code 137 (OutOfMemoryError: Container killed)" } },
      { move: "fail", code: "OUT_OF_MEMORY", message: expect.stringContaining("resources.memoryMbPerWorker") },
    ],
    [
      "used up retries fail",
      { attempts: [attempt(1, { status: "failed", reason: "x" }), attempt(2)] },
      { move: "fail", code: "TRAINER_EXITED" },
    ],
    [
      "what would happen again is not tried again",
      { failure: failure(false) },
      { move: "fail", code: "NON_FINITE_LOSS" },
    ],
    ["a host's loss costs no retry", { job: hostLost, retries: 0 }, { move: "resubmit", market: "spot" }],
    [
      "the third loss goes on-demand",
      { job: hostLost, retries: 0, attempts: [lost(1), lost(2), attempt(3)] },
      { move: "resubmit", market: "on-demand" },
    ],
    [
      "losses before do not count as the user's",
      { attempts: [lost(1), lost(2), attempt(3)] },
      { move: "resubmit", market: "on-demand" },
    ],
    [
      "a spot job without a worker is ended after the maximum wait",
      { job: { status: "running", hostLoss: false }, waitedMs: 3_600_000, maxWaitMs: 3_600_000 },
      { move: "terminate", why: noCapacityReason },
    ],
    [
      "a spot job without a worker is waited for before",
      { job: { status: "running", hostLoss: false }, waitedMs: 3_599_999, maxWaitMs: 3_600_000 },
      { move: "wait" },
    ],
    [
      "an on-demand job is waited for",
      { ...{ job: { status: "running", hostLoss: false }, waitedMs: 1e9, maxWaitMs: 1 }, attempts: [onDemand(1)] },
      { move: "wait" },
    ],
    [
      "a wait for capacity costs no retry, and the next attempt is on-demand",
      { job: { ...failedJob, reason: noCapacityReason }, retries: 0 },
      { move: "resubmit", market: "on-demand", why: noCapacityReason },
    ],
    [
      "a wait for capacity before does not count as the user's",
      { attempts: [attempt(1, { status: "failed", reason: noCapacityReason }), onDemand(2)] },
      { move: "resubmit", market: "on-demand" },
    ],
  ])("%s", (_name, known, expected) => {
    expect(decideNextMove({ ...base, ...known })).toMatchObject(expected);
  });

  it("decides the same when the latest attempt was marked as failed by a call that died right after", () => {
    const marked = { ...base, attempts: [attempt(1, { status: "failed", reason: "x" })] };
    expect(decideNextMove(marked)).toEqual(decideNextMove(base));
  });
});
