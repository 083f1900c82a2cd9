import fs from "node:fs";
import type { TrainingTask } from "../../../core/runs/training-task";
import { readCheckpoints } from "../../../core/training/checkpoint/manifest";
import { findPause } from "../../../trainer-container/host/result";
import { buildTrainer } from "./build";
import type { TrainerCloud } from "./cloud";
import { expectEnd, TrainerFleet } from "./fleet";
import { readResult, storeTask } from "./task";

const stepsPerEpoch = 31;
const epochs = 3;

/** Real trainer processes that end a segment of a run at an epoch, and others that continue it. */
describe("a run that pauses", () => {
  let fleet: TrainerFleet;
  let cloud: TrainerCloud;
  const built = buildTrainer();
  beforeAll(async () => {
    fleet = await TrainerFleet.start(built.nodeArguments);
    cloud = fleet.cloud;
  });
  afterAll(async () => {
    await fleet.stop();
    fs.rmSync(built.folder, { recursive: true });
  });

  /** Stores a segment's task and starts its workers. */
  async function startSegment(runId: string, segment: number, task: Partial<TrainingTask> & { workers: number }) {
    await storeTask(cloud.store, runId, task, { epochs }, segment);
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

  it("has the undisturbed run's weights and points, with a sharded optimizer, on other numbers of workers and with kills, of all at the pause too", async () => {
    const [alone, runId] = ["run-alone", "run-paused"];
    const task = { shardOptimizer: true };
    await expectEnd(...(await startSegment(alone, 0, { workers: 1 })));

    const first = await startSegment(runId, 0, { ...task, workers: 3, pauseAt: 1 });
    await first[1]!.reached("generation started");
    first[1]!.signal("SIGKILL");
    await first[1]!.ended;
    await expectEnd(first[0]!, first[2]!, fleet.start(runId, 0, 1, 2));
    const pause = await findPause(cloud.store, runId, 0);
    expect(pause).toMatchObject({ epoch: 1, finishedSteps: stepsPerEpoch });

    // A worker of the ended segment that starts again changes nothing.
    const late = fleet.start(runId, 0, 0, 3);
    await expectEnd(late);
    expect(late.said("training is paused already")).toHaveLength(1);

    const second = await startSegment(runId, 1, { ...task, workers: 2, pauseAt: 2 });
    await Promise.race(second.map((trainer) => trainer.reached("epoch finished", 2 * stepsPerEpoch)));
    for (const trainer of second) trainer.signal("SIGKILL");
    await Promise.all(second.map((trainer) => trainer.ended));
    for (const trainer of second) expect(trainer.said("ready")).toMatchObject([{ restoredStep: pause!.finishedSteps }]);
    await expectEnd(...[0, 1].map((index) => fleet.start(runId, 1, index, 2)));
    const { checkpoints } = await readCheckpoints(cloud.store, alone);
    const { weightsSha256 } = checkpoints.find(({ finishedSteps }) => finishedSteps === 2 * stepsPerEpoch)!;
    expect(await findPause(cloud.store, runId, 1)).toMatchObject({ epoch: 2, finishedSteps: 62, weightsSha256 });

    await expectEnd(...(await startSegment(runId, 2, { workers: 1 })));
    const [expected, found] = [await readResult(cloud.store, alone), await readResult(cloud.store, runId)];
    expect(found.weightsSha256).toBe(expected.weightsSha256);
    expect(found.metrics).toEqual(expected.metrics);
    expect(pointsOf(alone).filter((point) => point.startsWith("train/loss "))).toHaveLength(epochs * stepsPerEpoch);
    expect(pointsOf(alone).filter((point) => point.startsWith("validation/loss "))).toHaveLength(epochs);
    expect(pointsOf(runId)).toEqual(pointsOf(alone));
  });
});
