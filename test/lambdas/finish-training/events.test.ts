import { jobNameOf } from "../../../core/runs/ports";
import { type BatchJobDetail, readJobEvent } from "../../../lambdas/finish-training/events";

const runId = "run-01j9zx00";
const event = (jobId: string, more: Partial<BatchJobDetail> = {}): BatchJobDetail => ({
  jobName: jobNameOf({ runId, attempt: 1 }),
  jobId,
  status: "RUNNING",
  ...more,
});
const ofWhom = (detail: BatchJobDetail) => {
  const { worker } = readJobEvent(detail) ?? {};
  return worker && [worker.workerIndex, worker.jobId];
};

describe("whom a Batch event is about", () => {
  it.each<[string, BatchJobDetail, unknown]>([
    ["a job alone is its only worker", event("j"), [0, "j"]],
    ["a child of an array", event("j:3", { arrayProperties: { index: 3 } }), [3, "j:3"]],
    ["a child that knows the array's size", event("j:3", { arrayProperties: { index: 3, size: 4 } }), [3, "j:3"]],
    ["an array is nobody", event("j", { arrayProperties: { size: 4 } }), undefined],
    ["a node of a gang", event("j#2", { nodeDetails: { nodeIndex: 2 } }), [2, "j#2"]],
    ["a gang is nobody while it runs", event("j", { nodeProperties: { numNodes: 4, mainNode: 0 } }), undefined],
    [
      "a gang that names a log names its main node's",
      event("j", { nodeProperties: { numNodes: 4, mainNode: 1 }, attempts: [{ container: { logStreamName: "l" } }] }),
      [1, "j#1"],
    ],
  ])("%s", (_what, detail, whom) => {
    expect(ofWhom(detail)).toEqual(whom);
    expect(readJobEvent(detail)).toMatchObject({ runId, ended: false });
  });

  it("another's job is nobody's", () => {
    expect(readJobEvent({ ...event("j"), jobName: "nightly-report" })).toBeUndefined();
  });

  it("a lost host is the attempt's reason, whatever the container said last", () => {
    const attempts = [
      { statusReason: "Host EC2 (instance i-1) terminated.", container: { exitCode: 137, reason: "x" } },
    ];
    const { worker } = readJobEvent(event("j", { status: "FAILED", attempts }))!;
    expect(worker!.attempts).toMatchObject([{ exitCode: 137, reason: "Host EC2 (instance i-1) terminated." }]);
  });
});
