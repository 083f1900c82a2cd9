import type { TrainingTask } from "../../../core/runs/training-task";
import { findPause } from "../../../trainer-container/host/result";
import { trainerArguments } from "./build";
import type { TrainerCloud } from "./cloud";
import { expectEnd, TrainerFleet } from "./fleet";
import { readResult, storeTask } from "./task";

const stepsPerEpoch = 31;

/** Real trainer processes that end a segment of a run at an epoch, and others that continue it. */
describe("a run that pauses", () => {
  let fleet: TrainerFleet;
  let cloud: TrainerCloud;
  beforeAll(async () => {
    fleet = await TrainerFleet.start(trainerArguments());
    cloud = fleet.cloud;
  });
  afterAll(() => fleet.stop());

  /** Stores a segment's task and starts its workers. */
  async function startSegment(runId: string, segment: number, task: Partial<TrainingTask> & { workers: number }) {
    await storeTask(cloud.store, runId, task, { epochs: 5 }, segment);
    return Array.from({ length: task.workers }, (_, index) => fleet.start(runId, segment, index));
  }

  /** Every point that was received of the metrics that follow from the weights, each once, in order. */
  function pointsOf(runId: string): readonly string[] {
    const series = cloud.batches.filter((batch) => batch.runId === runId).flatMap((batch) => batch.series);
    const points = series
      .filter(({ metric }) => !metric.startsWith("system/"))
      .flatMap(({ metric, steps, values }) => steps.map((step, i) => `${metric} ${step} ${values[i]}`));
    return [...new Set(points)].sort();
  }

  it("has the undisturbed run's weights and points, with a sharded optimizer, on other numbers of workers and with kills", async () => {
    const [alone, runId] = ["run-alone", "run-paused"];
    const task = { shardOptimizer: true };
    await expectEnd(...(await startSegment(alone, 0, { workers: 1 })));

    const first = await startSegment(runId, 0, { ...task, workers: 2, pauseAt: 2 });
    await fleet.trained(runId, 45);
    first[1]!.signal("SIGKILL");
    await first[1]!.ended;
    await expectEnd(first[0]!, fleet.start(runId, 0, 1, 2));
    const pause = await findPause(cloud.store, runId, 0);
    expect(pause).toMatchObject({ epoch: 2, finishedSteps: 2 * stepsPerEpoch });

    // A worker of the ended segment that starts again changes nothing.
    const late = fleet.start(runId, 0, 0, 3);
    await expectEnd(late);
    expect(late.said("training is paused already")).toHaveLength(1);

    const second = await startSegment(runId, 1, { ...task, workers: 3, pauseAt: 4 });
    await fleet.trained(runId, 2 * stepsPerEpoch + 25);
    for (const trainer of second) trainer.signal("SIGKILL");
    await Promise.all(second.map((trainer) => trainer.ended));
    for (const trainer of second) expect(trainer.said("ready")).toMatchObject([{ restoredStep: pause!.finishedSteps }]);
    await expectEnd(...[0, 1, 2].map((index) => fleet.start(runId, 1, index, 2)));
    expect(await findPause(cloud.store, runId, 1)).toMatchObject({ epoch: 4, finishedSteps: 4 * stepsPerEpoch });

    await expectEnd(...(await startSegment(runId, 2, { workers: 1 })));
    const [expected, found] = [await readResult(cloud.store, alone), await readResult(cloud.store, runId)];
    expect(found.weightsSha256).toBe(expected.weightsSha256);
    expect(found.metrics).toEqual(expected.metrics);
    expect(pointsOf(alone).filter((point) => point.startsWith("train/loss "))).toHaveLength(5 * stepsPerEpoch);
    expect(pointsOf(alone).filter((point) => point.startsWith("validation/loss "))).toHaveLength(5);
    expect(pointsOf(runId)).toEqual(pointsOf(alone));
  }, 240_000); // twelve processes in six groups

  it("pauses once and with the same weights when all are killed at the pause", async () => {
    const pauses = [];
    for (const [runId, kills] of [
      ["run-calm", 0],
      ["run-hit", 1],
    ] as const) {
      let trainers = await startSegment(runId, 0, { workers: 2, pauseAt: 1 });
      for (let attempt = 2; attempt < 2 + kills; attempt += 1) {
        await fleet.trained(runId, stepsPerEpoch);
        for (const trainer of trainers) trainer.signal("SIGKILL");
        await Promise.all(trainers.map((trainer) => trainer.ended));
        trainers = [0, 1].map((index) => fleet.start(runId, 0, index, attempt));
      }
      await expectEnd(...trainers);
      const { pausedAt: _, runId: __, ...pause } = (await findPause(cloud.store, runId, 0))!;
      pauses.push(pause);
    }
    expect(pauses[1]).toEqual(pauses[0]);
  });
});
