import { closeInterruptedRun } from "../../../core/training/close-run";
import { takeJobEvent, takeSpotNotice } from "../../../core/training/job-event";
import { launchAttempt, nextAttempt } from "../../../core/training/launch";
import { reconcileAll } from "../../../core/training/reconcile";
import { readJobEvent } from "../../../lambdas/finish-training/events";
import { ingest } from "../../../lambdas/ingest-metrics/ingest";
import { runOf, storeResult } from "../../support/fixtures";
import { at, type Delivery, type World } from "./world";

/** Runs that are training: one ends well, one's first try fails, one's execution is aborted, one goes on, on an instance that is taken back. */
export async function trainingRuns({ platform: given, calls }: World): Promise<readonly Delivery[]> {
  const outcomes: Readonly<Record<string, "succeeded" | "failed">> = {
    "job-run-good-1": "succeeded",
    "job-run-again-1": "failed",
  };
  const describe = async (jobId: string) => ({ status: outcomes[jobId] ?? ("running" as const), hostLoss: false });
  const spans = async (jobId: string) => [{ memberId: `${jobId}:0/1`, startedAt: 1, stoppedAt: 3_601 }];
  const platform = { ...given, jobs: { ...given.jobs, describe, spans } };
  const { runs, objects, team } = platform;
  for (const runId of ["run-good", "run-again", "run-aborted", "run-on"]) {
    await runs.create(runOf(runId));
    const output = { featureManifestKey: "k", digest: "d", width: 1, rows: { train: 1, validation: 1, test: 1 } };
    await runs.recordStep(runId, { step: "PrepareFeatures", inputHash: "h", output, startedAt: at, finishedAt: at });
    await runs.enterPhase(runId, "LaunchTraining", at);
    await runs.putTaskToken(runId, "LaunchTraining", `token-${runId}`);
    const details = (await runs.findDetails(runId))!;
    await launchAttempt(platform, details.run, nextAttempt(details));
  }
  await storeResult(objects, "run-good");
  for (const [n, memberId] of ["job-run-on-1:0/1", "job-run-on-1:1/1"].entries())
    await runs.recordMachine("run-on", { memberId, instanceType: "g6.xlarge", instanceId: `i-${n}` });
  const runKey = await platform.runKeys.keyOf("run-on");
  calls.measured.length = 0;

  const job = (runId: string, index: number, status: string, exitCodes: readonly number[] = []): Delivery => {
    const attempts = exitCodes.map((exitCode) => ({ container: { exitCode }, startedAt: 1, stoppedAt: 2 }));
    const named = { jobName: `${runId}-1`, jobId: `job-${runId}-1:${index}`, status, createdAt: 1 };
    const read = readJobEvent({ ...named, arrayProperties: { index }, attempts })!;
    return () => takeJobEvent(platform, team, read);
  };
  const worker = (runId: string, index: number, end: readonly Delivery[]): readonly Delivery[] => [
    ...["RUNNABLE", "STARTING", "RUNNING"].map((status) => job(runId, index, status)),
    job(runId, index, "RUNNABLE", [137]),
    job(runId, index, "RUNNING", [137]),
    ...end,
  ];
  const batch = (from: number): Delivery => {
    const steps = Array.from({ length: 5 }, (_, n) => from + n);
    const series = ["train/loss", "train/accuracy"].map((metric) => ({
      ...{ metric, steps, values: steps.map((step) => 1 / (step + 1)), times: steps.map((step) => step * 1000) },
    }));
    const progress = {
      ...{ step: from + 4, totalSteps: 20, epoch: 0, epochs: 1, generation: 1 + Number(from >= 10), worldSize: 2 },
      ...{ loss: 0.5, samplesPerSecond: 10, backend: "wasm", workers: [] },
    };
    const machine = { memberId: `job-run-on-1:${from % 2}/2`, instanceType: "g6.xlarge" };
    const recoveries = from >= 10 ? [{ generation: 2, step: 10, seconds: 3 }] : [];
    return () =>
      ingest(platform.forRun, platform.runKeys, { runId: "run-on", runKey, series, progress, machine, recoveries });
  };
  const aborted = () => closeInterruptedRun(platform, { runId: "run-aborted" }, "ABORTED", undefined, undefined);
  const minute = async () =>
    reconcileAll(await platform.listOpenRuns(), {
      forTeam: () => platform,
      meter: { emit: () => undefined },
      clock: platform.clock,
      until: Number.POSITIVE_INFINITY,
      onDone: () => undefined,
      onError: (runId, error) => {
        throw new Error(`reconciling ${runId}`, { cause: error });
      },
    });
  return [
    ...[0, 1].flatMap((n) => worker("run-good", n, [job("run-good", n, "SUCCEEDED", [137, 0])])),
    minute,
    ...worker("run-again", 0, [job("run-again", 0, "FAILED", [137, 1])]),
    ...[0, 5, 10, 15].map(batch),
    // It is charged by what its workers' rows say when it ends, so they have none here: a later event is no longer charged.
    ...["RUNNABLE", "STARTING", "RUNNING"].map((status) => job("run-aborted", 0, status)),
    aborted,
    ...["i-0", "i-1"].map(
      (instance): Delivery =>
        () =>
          takeSpotNotice(platform, instance, at),
    ),
    minute,
  ];
}
