import type { WorkerRecord } from "../../../core/runs/shapes";
import { newsOf } from "../../../core/training/job-event";

const worker = (more: Partial<WorkerRecord>): WorkerRecord => ({
  workerIndex: 0,
  jobId: "j",
  attempt: 1,
  status: "RUNNING",
  attempts: [],
  ...more,
});
const lost = { startedAt: 5_000, stoppedAt: 9_000, reason: "Host EC2 (instance i-1) terminated." };
const running = worker({ startedAt: 5_000 });
const waited = worker({ attempts: [lost] });
const again = worker({ attempts: [lost], startedAt: 5_000 });
const earlier = worker({ jobId: "earlier", attempts: [lost, lost] });

describe("what a worker's newer record tells", () => {
  it.each<[string, WorkerRecord | undefined, WorkerRecord, object]>([
    ["nothing while it waits", undefined, worker({ status: "RUNNABLE" }), {}],
    ["its wait, when it first starts", worker({ status: "RUNNABLE" }), worker({ startedAt: 5_000 }), { QueueWait: 4 }],
    ["no wait when it starts again", worker({ attempts: [lost] }), worker({ attempts: [lost], startedAt: 12_000 }), {}],
    ["no wait of other workers: one speaks for its job", undefined, worker({ workerIndex: 1, startedAt: 5_000 }), {}],
    ["the loss of its host", worker({ startedAt: 5_000 }), worker({ attempts: [lost] }), { SpotInterruptions: 1 }],
    ["losses whose events were lost", waited, worker({ attempts: [lost, lost, lost] }), { SpotInterruptions: 2 }],
    ["an exit, which is no loss", running, worker({ attempts: [{ startedAt: 5_000, exitCode: 1 }] }), {}],
    ["all of a new job, whatever the one before had", earlier, again, { SpotInterruptions: 1, QueueWait: 4 }],
  ])("%s", (_name, before, after, expected) => {
    expect(newsOf(before, after, 1_000)).toEqual(expected);
  });
});
