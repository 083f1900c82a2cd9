import { objectKeys } from "../../../core/object-keys";
import type { TrainingTask } from "../../../core/runs/training-task";
import { readCheckpoints } from "../../../core/training/checkpoint/manifest";
import { findPause } from "../../../trainer-container/host/result";
import { trainerArguments } from "./build";
import type { TrainerCloud } from "./cloud";
import { expectEnd, TrainerFleet } from "./fleet";
import { readResult, storeTask } from "./task";

const stepsPerEpoch = 31;
const rate = { learningRate: 0.05, epochs: 12 };
const earlyStopping = { metric: "validation/loss", patience: 2, minDelta: 0 };

/** Real trainer processes of a run that stops early, of the build that the embedded cloud starts, with all its threads. */
describe("a run that pauses and stops early", () => {
  let fleet: TrainerFleet;
  let cloud: TrainerCloud;
  beforeAll(async () => {
    fleet = await TrainerFleet.start(trainerArguments());
    cloud = fleet.cloud;
  });
  afterAll(() => fleet.stop());

  async function startSegment(runId: string, segment: number, task: Partial<TrainingTask> & { workers: number }) {
    await storeTask(cloud.store, runId, { earlyStopping, ...task }, rate, segment);
    return Array.from({ length: task.workers }, (_, index) => fleet.start(runId, segment, index));
  }

  /** Trains one epoch and stores its weights as a source. */
  async function storeSource(): Promise<string> {
    await storeTask(cloud.store, "run-source", { workers: 1, seed: 99 }, { learningRate: 0.0005, epochs: 1 });
    await expectEnd(fleet.start("run-source", 0, 0));
    const { weights } = await readResult(cloud.store, "run-source");
    expect(await cloud.store.copyContent(weights, objectKeys.trainingFile("run-source", weights.sha256))).toBe(true);
    return (await cloud.store.putContent(JSON.stringify([weights]))).sha256;
  }

  /** Every point that was received of the metrics that follow from the weights, each once, in order. */
  function pointsOf(runId: string): readonly string[] {
    const series = cloud.batches.filter((batch) => batch.runId === runId).flatMap((batch) => batch.series);
    const points = series
      .filter(({ metric }) => !metric.startsWith("system/"))
      .flatMap(({ metric, steps, values }) => steps.map((step, i) => `${metric} ${step} ${values[i]}`));
    return [...new Set(points)].sort();
  }

  it("stops at the same epoch with the same weights and points after kills and a pause, on other numbers of workers, with initial weights and a sharded optimizer", async () => {
    const whole = { fineTune: { from: "run-source", match: "strict" as const, parts: await storeSource() } };
    const task = { ...whole, shardOptimizer: true };
    const [alone, runId] = ["run-alone", "run-hit"];
    await expectEnd(...(await startSegment(alone, 0, { ...whole, workers: 1 })));
    const expected = await readResult(cloud.store, alone);
    const { epochs } = expected;
    const bestEpoch = epochs - earlyStopping.patience;
    expect(expected.earlyStopping).toMatchObject({ metric: "validation/loss", bestEpoch, stopped: true });
    expect(expected.metrics["validation/loss"]).toBe(expected.earlyStopping?.value);
    expect(bestEpoch).toBeGreaterThan(1);

    // All workers are lost after the run's best epoch, and the run pauses right after it.
    const first = await startSegment(runId, 0, { ...task, workers: 2, pauseAt: bestEpoch + 1 });
    await Promise.race(first.map((trainer) => trainer.reached("checkpoint written", bestEpoch * stepsPerEpoch)));
    for (const trainer of first) trainer.signal("SIGKILL");
    await Promise.all(first.map((trainer) => trainer.ended));
    const second = [0, 1].map((index) => fleet.start(runId, 0, index, 2));
    await expectEnd(...second);
    for (const trainer of second)
      expect(trainer.said("ready")[0]!["restoredStep"]).toBeGreaterThanOrEqual(bestEpoch * stepsPerEpoch);
    const pausedAt = (bestEpoch + 1) * stepsPerEpoch;
    const { checkpoints } = await readCheckpoints(cloud.store, alone);
    const { weightsSha256 } = checkpoints.find(({ finishedSteps }) => finishedSteps === pausedAt)!;
    const pause = { epoch: bestEpoch + 1, finishedSteps: pausedAt, weightsSha256 };
    expect(await findPause(cloud.store, runId, 0)).toMatchObject(pause);

    // A worker of the ended segment that starts again changes nothing.
    const late = fleet.start(runId, 0, 0, 3);
    await expectEnd(late);
    expect(late.said("training is paused already")).toHaveLength(1);
    expect(await findPause(cloud.store, runId, 0)).toMatchObject(pause);

    await expectEnd(...(await startSegment(runId, 1, { ...task, workers: 1 })));
    const found = await readResult(cloud.store, runId);
    expect(found).toMatchObject({
      weightsSha256: expected.weightsSha256,
      metrics: expected.metrics,
      steps: epochs * stepsPerEpoch,
      epochs,
      earlyStopping: expected.earlyStopping,
    });
    const named = (metric: string) => pointsOf(alone).filter((point) => point.startsWith(metric));
    expect(named("train/loss ")).toHaveLength(epochs * stepsPerEpoch);
    expect(named("validation/loss ")).toHaveLength(epochs);
    expect(pointsOf(runId)).toEqual(pointsOf(alone));
  });
});
