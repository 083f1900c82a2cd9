import { objectKeys } from "../../../core/object-keys";
import type { TrainingTask } from "../../../core/runs/training-task";
import { findPause } from "../../../trainer-container/host/result";
import { trainerArguments } from "./build";
import type { TrainerCloud } from "./cloud";
import { expectEnd, TrainerFleet } from "./fleet";
import { readResult, storeTask } from "./task";

const stepsPerEpoch = 31;
const rate = { learningRate: 0.05, epochs: 12 };
const earlyStopping = { metric: "validation/loss", patience: 2, minDelta: 0 };

/** Real trainer processes of a run that stops early. */
describe("a run with early stopping", () => {
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

  it("stops at the same epoch with the same weights after kills and a pause, on other numbers of workers, with initial weights and a sharded optimizer", async () => {
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

    // One worker is lost, then all; the run pauses right after its best epoch.
    const first = await startSegment(runId, 0, { ...task, workers: 2, pauseAt: bestEpoch + 1 });
    await fleet.trained(runId, 1);
    first[1]!.signal("SIGKILL");
    await first[1]!.ended;
    const again = fleet.start(runId, 0, 1, 2);
    await fleet.trained(runId, bestEpoch * stepsPerEpoch + 5);
    for (const trainer of [first[0]!, again]) trainer.signal("SIGKILL");
    await Promise.all([first[0]!, again].map((trainer) => trainer.ended));
    await expectEnd(...[0, 1].map((index) => fleet.start(runId, 0, index, 3)));
    expect(await findPause(cloud.store, runId, 0)).toMatchObject({ epoch: bestEpoch + 1 });

    await expectEnd(...(await startSegment(runId, 1, { ...task, workers: 3 })));
    const found = await readResult(cloud.store, runId);
    expect(found).toMatchObject({
      weightsSha256: expected.weightsSha256,
      metrics: expected.metrics,
      steps: epochs * stepsPerEpoch,
      epochs,
      earlyStopping: expected.earlyStopping,
    });
  });

  it("has the weights that a run of the best epoch's number of epochs has, at a constant rate", async () => {
    const changed = { ...rate, schedule: "constant" as const };
    await storeTask(cloud.store, "run-constant", { earlyStopping, workers: 1 }, changed);
    await expectEnd(fleet.start("run-constant", 0, 0));
    const stopped = await readResult(cloud.store, "run-constant");
    const { bestEpoch } = stopped.earlyStopping!;
    await storeTask(cloud.store, "run-short", { workers: 1 }, { ...changed, epochs: bestEpoch });
    await expectEnd(fleet.start("run-short", 0, 0));
    const short = await readResult(cloud.store, "run-short");
    expect(stopped.weightsSha256).toBe(short.weightsSha256);
    expect(stopped.metrics).toEqual(short.metrics);
    expect(short).not.toHaveProperty("earlyStopping");
  });
});
