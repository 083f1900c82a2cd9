import type { JobContinuation } from "../../../core/runs/training-task";
import { createInterruption } from "../../../trainer-container/host/interruption";
import { trainInTurn } from "../../../trainer-container/host/shared-job";

const next = (runId: string): JobContinuation => ({ next: { runId, runKey: `key of ${runId}`, segment: 2 } });

/** Runs a job whose trainings take `seconds` each and whose requests get these answers, an error for a rejection. */
async function job(answers: readonly (JobContinuation | Error)[], { seconds = 1, codes = [0], interruptAt = -1 } = {}) {
  const trained: string[] = [];
  const requests: string[] = [];
  const interruption = createInterruption();
  let time = 0;
  const code = await trainInTurn(
    { RINGMASTER_RUN_ID: "run-0", RINGMASTER_RUN_KEY: "key of run-0", RINGMASTER_BUCKET: "bucket" },
    {
      async train(environment) {
        const { RINGMASTER_RUN_ID: run, RINGMASTER_SEGMENT: segment = "–", RINGMASTER_RUN_KEY: key } = environment;
        expect([key, environment["RINGMASTER_BUCKET"]]).toEqual([`key of ${run}`, "bucket"]);
        trained.push(`${run} ${segment}`);
        time += seconds * 1_000;
        return codes[trained.length - 1] ?? 0;
      },
      async next(environment, leave) {
        const answer = answers[requests.length] ?? (leave ? { leave } : {});
        requests.push(`${environment["RINGMASTER_RUN_ID"]}${leave ? " leaves" : ""}`);
        if (requests.length === interruptAt) interruption.raise("spot notice");
        if (answer instanceof Error) throw answer;
        return answer;
      },
      interruption,
      async pause(milliseconds) {
        time += milliseconds;
      },
      now: () => time,
      onTrouble: () => undefined,
    },
  );
  return { trained, requests, code };
}

describe("the trainer of a shared job", () => {
  it("trains one trial after another, each with its own key, until it has to leave", async () => {
    const { trained, requests, code } = await job([{}, next("run-1"), next("run-2"), { leave: true }]);
    expect(trained).toEqual(["run-0 –", "run-1 2", "run-2 2"]);
    expect(requests).toEqual(["run-0", "run-0", "run-1", "run-2"]);
    expect(code).toBe(0);
  });

  it("leaves if no trial comes in time, and trains one that was assigned just before", async () => {
    const waiting = Array.from({ length: 100 }, () => ({}));
    const answers = waiting.slice(0, 15);
    const { trained, requests } = await job([...answers, next("run-1"), { leave: true }]);
    expect(requests[15]).toBe("run-0 leaves");
    expect(trained).toEqual(["run-0 –", "run-1 2"]);
  });

  it("leaves after a long trial", async () => {
    const { requests } = await job([{ leave: true }], { seconds: 301 });
    expect(requests).toEqual(["run-0 leaves"]);
  });

  it("ends with the exit code of a training that did not succeed", async () => {
    const { trained, code } = await job([next("run-1"), next("run-2")], { codes: [0, 1] });
    expect([trained, code]).toEqual([["run-0 –", "run-1 2"], 1]);
  });

  it("leaves when the host is about to go away", async () => {
    const { requests } = await job([{}, {}], { interruptAt: 2 });
    expect(requests).toEqual(["run-0", "run-0", "run-0 leaves"]);
  });

  it("continues after failed requests, and ends after a minute without an answer", async () => {
    const failed = new Error("no answer");
    const many = Array.from({ length: 200 }, () => failed);
    const { trained, requests } = await job([failed, failed, next("run-1"), ...many]);
    expect(trained).toEqual(["run-0 –", "run-1 2"]);
    expect(requests.length).toBeLessThan(60);
    expect(requests.at(-1)).toBe("run-1 leaves");
  });
});
