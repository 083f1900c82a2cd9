import fs from "node:fs";
import type { JobDetail } from "@aws-sdk/client-batch";
import { outcomeOf } from "../../../adapters/batch/training-jobs";
import { objectKeys } from "../../../core/object-keys";
import { decideNextMove } from "../../../core/runs/attempts";
import type { TrainingAttempt } from "../../../core/runs/shapes";
import { type Clock, systemClock } from "../../../local/clock";
import { trainerJob } from "../../../platform/trainer-job";
import { BatchCloud, pidOf } from "../../local/batch/cloud";
import { buildTrainer } from "./build";
import { startCloud, type TrainerCloud } from "./cloud";
import { readResult, storeFeatures, storeTask } from "./task";
import { trainerEnvironment } from "./trainer-process";

/** The time that a notice announces. The tests end hosts themselves. */
const noticeMs = 120_000;
/** Fewer than deployed: each takes a process. With restarts, the notices are more than one job's attempts. */
const attempts = 3;
const notices = 3;

/** Trainers on the embedded Batch, under the deployed retry rules, whose hosts EC2 takes away. */
describe("a training on spot hosts", () => {
  const built = buildTrainer();
  const batch = new BatchCloud();
  let cloud: TrainerCloud;
  /** The callbacks that end the hosts under notice. */
  const hostEnds = new Set<() => void>();
  const clock: Clock = {
    now: () => Date.now(),
    schedule(delayMs, callback) {
      if (delayMs < noticeMs / 2) return systemClock.schedule(delayMs, callback);
      hostEnds.add(callback);
      return () => hostEnds.delete(callback);
    },
  };
  function endHost(): void {
    expect(hostEnds.size).toBe(1);
    for (const end of hostEnds) end();
    hostEnds.clear();
  }

  beforeAll(async () => {
    cloud = await startCloud();
    const environment = { ...trainerEnvironment(cloud), RINGMASTER_SPOT_POLL_MS: "50" };
    const trainer = { command: [process.execPath, ...built.nodeArguments], environment };
    await batch.start({ images: { trainer }, spotNoticeMs: noticeMs, clock });
    await batch.setUp();
    const container = { image: "trainer", vcpus: 1, memory: 2_048 };
    await batch.define({ jobDefinitionName: "trainer", containerProperties: container });
    await storeFeatures(cloud.store, [1_000, 1_000]);
  });
  afterAll(async () => {
    await batch.stop();
    batch.remove();
    await cloud.close();
    fs.rmSync(built.folder, { recursive: true });
  });

  const submit = (runId: string, attempt: number, market: string) => {
    const { evaluateOnExit } = trainerJob;
    return batch.submit("", {
      ...{ jobName: `${runId}-${attempt}`, jobQueue: market === "spot" ? "spot" : "steady", jobDefinition: "trainer" },
      retryStrategy: { attempts, evaluateOnExit: evaluateOnExit.map((rule) => ({ ...rule })) },
      containerOverrides: { environment: [{ name: "RINGMASTER_RUN_ID", value: runId }] },
    });
  };
  const said = (job: JobDetail, message: string) =>
    batch.output(job).some((line) => line.includes(`"message":"${message}`));
  const until = async (jobId: string, holds: (job: JobDetail) => boolean) => {
    for (;;) {
      const job = await batch.job(jobId);
      if (holds(job) || job.status === "SUCCEEDED" || job.status === "FAILED") return job;
      await new Promise((tick) => setTimeout(tick, 50)); // a look costs several milliseconds of processor time
    }
  };

  /**
   * Runs a training to its end, like the control plane with `retries: 0`: a failed job is submitted again only if it
   * uses none of the user's retries.
   */
  async function train(runId: string, interrupt: (jobId: string) => Promise<void>): Promise<readonly JobDetail[]> {
    const jobs: JobDetail[] = [];
    const earlier: TrainingAttempt[] = [];
    let market: TrainingAttempt["market"] = "spot";
    for (let attempt = 1; ; attempt += 1) {
      const running: TrainingAttempt = {
        ...{ attempt, market, placement: "spread", workers: 1, status: "submitted" },
        startedAt: new Date().toISOString(),
      };
      const jobId = await submit(runId, attempt, market);
      if (market === "spot") await interrupt(jobId);
      const job = await until(jobId, () => false);
      jobs.push(job);
      const hasResult = (await cloud.store.size(objectKeys.trainingResult(runId))) !== undefined;
      const outcome = outcomeOf(job, [job]);
      const move = decideNextMove({
        ...{ hasResult, failure: undefined, job: outcome, attempts: [...earlier, running], retries: 0 },
      });
      if (move.move === "succeed") return jobs;
      if (move.move !== "resubmit") throw new Error(`${JSON.stringify(move)}\n${batch.output(job).join("\n")}`);
      earlier.push({ ...running, status: "failed", reason: move.why });
      market = move.market;
    }
  }

  it(`uses none of the user's retries for ${notices} notices, with restarts on hosts under notice`, async () => {
    // Many steps, of which few store a checkpoint: those of notices and of the ends of epochs.
    const checkpoint = { everySteps: 500, everySeconds: 600, keep: 3 };
    const settings = [{ workers: 1, checkpoint }, { epochs: 2 }] as const;
    await storeTask(cloud.store, "run-calm", ...settings);
    await storeTask(cloud.store, "run-hit", ...settings);
    await train("run-calm", async () => undefined);

    let given = 0;
    let restarted = 0;
    const ended = (job: JobDetail) => job.attempts?.length ?? 0;
    const jobs = await train("run-hit", async (jobId) => {
      for (let attempt = 1; given < notices && attempt <= attempts; attempt += 1) {
        const job = await until(jobId, (one) => one.status === "RUNNING" && said(one, "ready"));
        if (job.status !== "RUNNING") return;
        await new Promise((wait) => setTimeout(wait, 5 * given)); // each notice comes at another step
        await batch.batch.interruptSpot(jobId);
        given += 1;
        const left = await until(jobId, (one) => said(one, "left") || said(one, "gang: left"));
        if (given % 2 === 0 && attempt < attempts) {
          // The process dies for another reason, and Batch starts it again on the host under notice.
          process.kill(pidOf(left), "SIGKILL");
          await until(jobId, (one) => ended(one) === attempt);
          attempt += 1;
          await until(jobId, (one) => one.status === "RUNNING" && said(one, "this host is going away"));
          restarted += 1;
        }
        endHost();
        await until(jobId, (one) => ended(one) === attempt);
      }
    });
    expect(given).toBe(notices);
    expect(restarted).toBeGreaterThanOrEqual(1);
    expect(jobs.length).toBeGreaterThan(1);
    expect(jobs.flatMap(({ attempts = [] }) => attempts.map(({ container }) => container?.exitCode))).not.toContain(75);
    const [calm, hit] = await Promise.all(["run-calm", "run-hit"].map((runId) => readResult(cloud.store, runId)));
    expect(hit!.weightsSha256).toBe(calm!.weightsSha256);
  }, 240_000);
});
