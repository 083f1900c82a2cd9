import fs from "node:fs";
import { sha256 } from "../../../core/digest";
import { objectKeys } from "../../../core/object-keys";
import type { TrainingTask } from "../../../core/runs/training-task";
import { decodeSafetensors } from "../../../core/safetensors";
import { readCheckpoints } from "../../../core/training/checkpoint/manifest";
import { buildTrainer } from "./build";
import type { TrainerCloud } from "./cloud";
import { expectEnd, TrainerFleet } from "./fleet";
import { readResult, storeTask } from "./task";
import type { TrainerProcess } from "./trainer-process";

const stepsPerEpoch = 31;
const totalSteps = 4 * stepsPerEpoch;
const everyStep = Array.from({ length: totalSteps }, (_, i) => i + 1);

/** Real trainer processes against the embedded cloud, from a bundle as in production. */
describe("trainer processes", () => {
  let fleet: TrainerFleet;
  let cloud: TrainerCloud;
  let folder: string;
  let nodeArguments: readonly string[];
  let reference: string;

  beforeAll(async () => {
    ({ folder, nodeArguments } = buildTrainer());
    fleet = await TrainerFleet.start(nodeArguments);
    cloud = fleet.cloud;
    await storeTask(cloud.store, "run-alone");
    expect(await start("run-alone", 0).ended).toBe(0);
    reference = (await readResult(cloud.store, "run-alone")).weightsSha256;
  });

  afterAll(async () => {
    await fleet.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const start = (runId: string, index: number, attempt = 1) => fleet.start(runId, 0, index, attempt);

  /** Steps of a metric's points as they were received, each once. */
  const stepsOf = (runId: string, metric: string): readonly number[] => {
    const series = cloud.batches.filter((batch) => batch.runId === runId).flatMap((batch) => batch.series);
    const steps = series.filter((one) => one.metric === metric).flatMap((one) => one.steps);
    return [...new Set(steps)].sort((a, b) => a - b);
  };

  const startAll = (runId: string, workers: number, attempt = 1) =>
    Array.from({ length: workers }, (_, index) => start(runId, index, attempt));

  /** Waits until a gang has stored that many checkpoints: uploads may be later than steps. */
  async function stored(trainers: readonly TrainerProcess[], checkpoints: number): Promise<void> {
    while (trainers.flatMap((trainer) => trainer.said("checkpoint written")).length < checkpoints)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  async function expectReference(runId: string, trainers: readonly TrainerProcess[]): Promise<void> {
    await expectEnd(...trainers);
    expect((await readResult(cloud.store, runId)).weightsSha256).toBe(reference);
    await expectKept(runId, "run-alone");
  }

  /** The checkpoints that are visible once all processes have ended. */
  async function keptOf(runId: string) {
    const { checkpoints: manifests } = await readCheckpoints(cloud.store, runId);
    return manifests.map(({ finishedSteps, weightsSha256, validation }) => [finishedSteps, weightsSha256, validation]);
  }

  async function expectKept(runId: string, of: string): Promise<void> {
    expect(await keptOf(runId)).toEqual(await keptOf(of));
  }

  it("leave weights that are what the result says, with every step's loss sent at least once", async () => {
    const result = await readResult(cloud.store, "run-alone");
    const file = await cloud.store.getContent(
      result.weightsSha256,
      objectKeys.trainingFile("run-alone", result.weightsSha256),
    );
    expect(sha256(file)).toBe(result.weightsSha256);
    expect(Object.values(decodeSafetensors(file).tensors).map(({ shape }) => shape)).toEqual(
      expect.arrayContaining([[66, 128], [128], [128, 3], [3]]),
    );
    expect(result).toMatchObject({ steps: totalSteps, epochs: 4, backend: "wasm", generations: 1 });
    expect(result.metrics["validation/accuracy"]).toBeGreaterThan(0.7);
    expect(result.metrics["train/loss"]).toBeLessThan(0.8);
    expect((await keptOf("run-alone")).map(([step]) => step)).toEqual([93, 100, 124]); // the best is among them
    expect(stepsOf("run-alone", "train/loss")).toEqual(everyStep);
    expect(stepsOf("run-alone", "system/worker-0/rss")).toEqual([totalSteps]);
  });

  it("give the same weights as two processes of each of two containers, of which the leader is killed and starts again", async () => {
    await storeTask(cloud.store, "run-hosts", { workers: 4 });
    const two = { RINGMASTER_HOST_WORKERS: "2" };
    const containers = [0, 1].map((index) => fleet.start("run-hosts", 0, index, 1, two));
    const all = await cloud.received(({ runId, progress }) => runId === "run-hosts" && progress?.worldSize === 4);
    const members = [...all.progress!.workers].sort((a, b) => a.workerIndex - b.workerIndex);
    expect(members.map(({ memberId }) => memberId)).toEqual(
      [0, 1].flatMap((index) => [`job-run-hosts:${index}.0/1`, `job-run-hosts:${index}.1/1`]),
    );
    process.kill(members[0]!.pid, "SIGKILL");
    await expectReference("run-hosts", containers);
    expect(containers[0]!.transcript()).toMatch(/\[worker 0\] its process ended with code 137, and starts again/);
    expect((await readResult(cloud.store, "run-hosts")).generations).toBeGreaterThan(1);
  });

  it("give the same weights from sparse rows with gradients in float16, alone and on three workers of which one is killed, and tell the loss scale", async () => {
    const model: TrainingTask["model"] = { type: "mlp", hidden: [24], activation: "relu", dropout: 0 };
    const hyperparameters = { gradientFormat: "float16", classWeights: { a: 0.5, c: 3 } } as const;
    const [one, three] = ["run-sparse", "run-sparse-3"] as const;
    await storeTask(cloud.store, one, { model }, hyperparameters);
    await storeTask(cloud.store, three, { model, workers: 3 }, hyperparameters);
    await expectEnd(start(one, 0));
    const [first, ...others] = startAll(three, 3);
    await first!.reached("generation started"); // sparse rows take a few milliseconds a step
    first!.signal("SIGKILL");
    await expectEnd(...others);
    const [alone, gang] = await Promise.all([one, three].map((id) => readResult(cloud.store, id)));
    expect(gang!.weightsSha256).toBe(alone!.weightsSha256);
    expect(gang!.generations).toBeGreaterThan(1);
    expect(alone!.metrics["train/loss"]).toBeLessThan(2);
    for (const metric of ["train/loss-scale", "train/skipped-steps"]) expect(stepsOf(one, metric)).toEqual(everyStep);
  });

  it("give the same weights with a sharded optimizer: one of four is killed, and no checkpoint is read; then two of three, and the rest goes back to one", async () => {
    await storeTask(cloud.store, "run-sharded", { workers: 4, shardOptimizer: true });
    const trainers = startAll("run-sharded", 4);
    const [first, second, third, last] = trainers as [TrainerProcess, TrainerProcess, TrainerProcess, TrainerProcess];
    const restored = () =>
      trainers.flatMap(({ lines }) => lines).filter(({ message }) => message.startsWith("both holders"));
    await stored(trainers, 1);
    second.signal("SIGKILL");
    const again = await last.reached("generation started", 1);
    await last.reached("epoch finished", Number(again["step"]) + 1);
    expect(restored()).toEqual([]);
    for (const trainer of [first, third]) trainer.signal("SIGKILL");
    await expectReference("run-sharded", [last]);
    expect(restored().map(({ step }) => Number(step) >= stepsPerEpoch)).toEqual([true]);
    expect((await readResult(cloud.store, "run-sharded")).generations).toBeGreaterThan(2);
  });

  it("go on from the last checkpoint after a kill, and lose no metric of the steps before, though none was taken; leave on SIGTERM with a checkpoint, exit 75, and go on exactly there", async () => {
    await storeTask(cloud.store, "run-lost");
    cloud.metricsAway = true;
    const first = start("run-lost", 0);
    await stored([first], 2); // of steps 31 and 50
    first.signal("SIGKILL");
    await first.ended;
    cloud.metricsAway = false;
    expect(stepsOf("run-lost", "train/loss")).toEqual([]);

    const second = start("run-lost", 0, 2);
    await second.reached("epoch finished");
    second.signal("SIGTERM");
    expect(await second.ended).toBe(75);
    expect(second.said("ready")[0]!["restoredStep"]).toBeGreaterThanOrEqual(50);
    const left = second.lines.find(({ message }) => message.startsWith("left: the host is about to go away"))!;

    const third = start("run-lost", 0, 3);
    await expectReference("run-lost", [third]);
    expect(third.said("ready")[0]!["restoredStep"]).toBe(left["step"]);
    expect(stepsOf("run-lost", "train/loss")).toEqual(everyStep);
  });

  it("outlast an outage of every service, with no metric lost", async () => {
    await storeTask(cloud.store, "run-outage", { workers: 2 });
    const trainers = startAll("run-outage", 2);
    await trainers[0]!.reached("epoch finished");
    const end = await cloud.outage();
    await new Promise((resolve) => setTimeout(resolve, 2_500)); // longer than the metrics' first retries
    await end();
    await expectReference("run-outage", trainers);
    expect((await readResult(cloud.store, "run-outage")).generations).toBe(1);
    expect(stepsOf("run-outage", "train/loss")).toEqual(everyStep);
  });

  it("end at once where the run is complete", async () => {
    const again = start("run-alone", 0, 2);
    expect(await again.ended).toBe(0);
    expect(again.said("training is complete already")).toHaveLength(1);
    expect(again.said("ready")).toHaveLength(0);
  });

  it("record why a training cannot go on, and exit 1", async () => {
    // Each step multiplies the weights by 1 − 10 × 1.
    const diverging = { optimizer: "sgd", learningRate: 10, weightDecay: 1, clipNorm: 0, warmupSteps: 0 } as const;
    await storeTask(cloud.store, "run-bad", {}, diverging);
    expect(await start("run-bad", 0).ended).toBe(1);
    const [key] = await cloud.store.list("runs/run-bad/training/failures/");
    const failure = JSON.parse(Buffer.from(await cloud.store.get(key!)).toString());
    expect(failure).toMatchObject({ runId: "run-bad", retryable: false, code: expect.stringContaining("NON_FINITE") });
    expect(await cloud.store.find(objectKeys.trainingResult("run-bad"))).toBeUndefined();
  });
});
