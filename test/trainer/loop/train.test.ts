import fc from "fast-check";
import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { createDirectFeed } from "../../../trainer-container/data/direct-feed";
import { TrainingHaltedError } from "../../../trainer-container/loop/errors";
import { createLeafComputer } from "../../../trainer-container/loop/gradients";
import { planTraining } from "../../../trainer-container/loop/plan";
import { scoreLayout } from "../../../trainer-container/loop/score";
import { FakeGang } from "./fake-gang";
import {
  classes,
  createWorker,
  digest,
  features,
  run,
  syntheticSplit,
  taskOf,
  trainTogether,
  type Worker,
} from "./in-process";
import { linearModel } from "./linear-model";

const names = ["a", "b", "c", "d", "e", "f"];
const totalSteps = 12; // 3 epochs of 100 rows in batches of 24

async function trainAlone(task = taskOf()): Promise<Worker> {
  const worker = createWorker(new FakeGang(task.microBatches, ["a"]).member("a"), task);
  await run(worker);
  return worker;
}

describe("train", () => {
  let reference: Worker;
  beforeAll(async () => {
    reference = await trainAlone();
  });

  it("learns, and reports every step and epoch once", () => {
    expect(reference.outcomes.map(({ step }) => step)).toEqual(Array.from({ length: totalSteps }, (_, i) => i + 1));
    expect(reference.outcomes.map(({ epoch }) => epoch)).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(reference.epochs.map(({ epoch }) => epoch)).toEqual([0, 1, 2]);
    expect(reference.epochs[0]!.train.weight).toBe(96);
    expect(reference.epochs[0]!.validation!.weight).toBe(50);
    expect(reference.epochs[2]!.validation!.loss).toBeLessThan(reference.epochs[0]!.validation!.loss);
  });

  it("averages an epoch's training score over its steps", () => {
    const losses = reference.outcomes.slice(8).map(({ score }) => score.loss);
    expect(reference.epochs[2]!.train.loss).toBeCloseTo(losses.reduce((sum, loss) => sum + loss, 0) / 4, 6);
  });

  it.each([2, 3, 4, 6])("gives the same state to the bit on %i workers", async (world) => {
    const gang = new FakeGang(6, names.slice(0, world));
    const workers = Object.fromEntries(names.slice(0, world).map((id) => [id, createWorker(gang.member(id))]));
    await trainTogether(gang, workers, Object.keys(workers));
    for (const worker of Object.values(workers)) {
      expect(digest(worker.replica)).toBe(digest(reference.replica));
      expect(worker.epochs).toEqual(reference.epochs);
      expect(worker.outcomes).toEqual(reference.outcomes);
    }
  });

  it("keeps the bits whichever member is lost, whenever, and whichever members had the sum already", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: totalSteps }), fc.nat(3), fc.nat(3)), { maxLength: 3 }),
        async (world, losses) => {
          const ids = names.slice(0, world);
          const gang = new FakeGang(6, ids);
          const doomed = gang.plan(ids, losses);
          const survivors = ids.filter((id) => !doomed.has(id));
          const workers = Object.fromEntries(ids.map((id) => [id, createWorker(gang.member(id))]));
          await trainTogether(gang, workers, survivors);
          return survivors.every((id) => digest(workers[id]!.replica) === digest(reference.replica));
        },
      ),
      { numRuns: 40, seed: 11 },
    );
  });

  it("takes a newcomer in at a step boundary and brings it to the others' state", async () => {
    const gang = new FakeGang(6, ["a"]);
    let newcomer: Promise<unknown> | undefined;
    const late: { worker?: Worker } = {};
    const veteran = createWorker(gang.member("a"), taskOf(), undefined, {
      stepFinished: ({ step }) => {
        if (step !== 5) return;
        late.worker = createWorker(gang.join("b"));
        newcomer = run(late.worker).then(() => gang.kill("b"));
      },
    });
    await run(veteran);
    gang.kill("a");
    await newcomer;
    expect(gang.generationCount).toBe(2);
    expect(late.worker!.outcomes[0]!.step).toBeGreaterThan(5);
    expect(digest(late.worker!.replica)).toBe(digest(reference.replica));
    expect(digest(veteran.replica)).toBe(digest(reference.replica));
  });

  it("lets a worker whose host goes away finish its step, and the others go on", async () => {
    const gang = new FakeGang(6, ["a", "b"]);
    const leaver: Worker = createWorker(gang.member("b"), taskOf(), undefined, {
      stepFinished: ({ step }) => {
        if (step === 6) leaver.leaving = true;
      },
    });
    const stayer = createWorker(gang.member("a"));
    const [stayed, left] = await trainTogether(gang, { a: stayer, b: leaver }, ["a", "b"]);
    expect(left).toEqual({ end: "interrupted", rank: 1 });
    expect(leaver.replica.finishedSteps).toBe(7);
    expect(stayed).toMatchObject({ end: "completed", generation: 2 });
    expect(digest(stayer.replica)).toBe(digest(reference.replica));
  });

  it("stops where the training has ended without this worker", async () => {
    const worker = createWorker(new FakeGang(6, ["a"]).member("a"));
    expect(await run({ ...worker, training: { ...worker.training, enter: async () => undefined } })).toEqual({
      end: "ended-elsewhere",
    });
  });

  it.each([
    { what: "loss", code: "NON_FINITE_LOSS", batchValue: Number.NaN },
    { what: "gradient", code: "NON_FINITE_GRADIENT", batchValue: Number.POSITIVE_INFINITY },
  ])("halts on every rank when a $what is not finite, without applying the step", async ({ code, batchValue }) => {
    const gang = new FakeGang(6, ["a", "b"]);
    const poisoned = () =>
      linearModel(4, 3, (key, gradient, result) => {
        if (key !== "seed 7 step 4 microshard 5") return result;
        if (code === "NON_FINITE_GRADIENT") gradient[0] = batchValue;
        return code === "NON_FINITE_LOSS" ? { ...result, loss: batchValue } : result;
      });
    const workers = [
      createWorker(gang.member("a"), taskOf(), poisoned()),
      createWorker(gang.member("b"), taskOf(), poisoned()),
    ];
    const results = await Promise.allSettled(workers.map(run));
    for (const result of results) {
      const { reason } = result as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(TrainingHaltedError);
      expect(reason).toMatchObject({ code, step: 4, message: expect.stringContaining("step 5") });
    }
    expect(workers.map(({ replica }) => replica.finishedSteps)).toEqual([4, 4]);
    expect(digest(workers[0]!.replica)).toBe(digest(workers[1]!.replica));
  });

  it("depends on the seed and on the number of micro-batches, which are the run's identity", async () => {
    const digests = [
      reference,
      await trainAlone(taskOf({ seed: 8 })),
      await trainAlone(taskOf({ microBatches: 4 })),
      await trainAlone(),
    ].map(({ replica }) => digest(replica));
    expect(new Set(digests).size).toBe(3);
    expect(digests[3]).toBe(digests[0]);
  });
});

describe("createLeafComputer", () => {
  it("stops after the micro-batch in which the generation was lost, and starts the step again on the next call", async () => {
    const split = syntheticSplit(100);
    const plan = planTraining(taskOf(), split.rows);
    let computed = 0;
    const model = linearModel(features, classes, () => {
      computed += 1;
    });
    const feed = createDirectFeed(split, plan.sampler);
    const leaves = createLeafComputer({ model, plan, layout: scoreLayout([]), feed, now: () => 0 });
    const loss = new GenerationLostError(1, 2, "its connection closed");
    const lost = () => (computed === 2 ? loss : undefined);
    await expect(leaves.compute(0, { first: 0, end: 6 }, { lost })).rejects.toBe(loss);
    expect(computed).toBe(2);

    const again = await leaves.compute(0, { first: 0, end: 6 });
    const whole = again.map((leaf) => [...leaf]);
    expect(computed).toBe(8);
    expect((await leaves.compute(0, { first: 0, end: 6 })).map((leaf) => [...leaf])).toEqual(whole);
  });
});

describe("planTraining", () => {
  it("counts steps and turns hyperparameters into what the loop needs", () => {
    const plan = planTraining(taskOf({}, { clipNorm: 0, optimizer: "momentum", weightDecay: 0.1 }), 100);
    expect(plan).toMatchObject({
      totalSteps: 12,
      clipNorm: undefined,
      optimizer: { type: "momentum", momentum: 0.9, weightDecay: 0.1 },
      learningRate: { learningRate: 0.05, decay: { type: "cosine" }, warmupSteps: 2 },
    });
    expect(planTraining(taskOf(), 5).totalSteps).toBe(3); // fewer rows than a batch: one step an epoch
  });

  it.each([
    { given: { optimizer: "sgd" }, config: { type: "sgd" } },
    {
      given: { optimizer: "momentum", nesterov: true },
      config: { type: "momentum", momentum: 0.9, nesterov: true },
    },
    {
      given: { optimizer: "adam", beta1: 0.8, beta2: 0.99, epsilon: 1e-6 },
      config: { type: "adam", beta1: 0.8, beta2: 0.99, epsilon: 1e-6 },
    },
    { given: { optimizer: "adamw", beta1: 0.8 }, config: { type: "adamw", beta1: 0.8 } },
  ])("configures $given.optimizer with its options and weight decay", ({ given, config }) => {
    const task = taskOf({}, { ...given, weightDecay: 0.1 });
    expect(planTraining(task, 100).optimizer).toEqual({ ...config, weightDecay: 0.1 });
  });

  it.each([
    { given: { schedule: "cosine", minLearningRate: 0.01 }, decay: { type: "cosine", minimum: 0.01 } },
    { given: { schedule: "step", stepSize: 7, gamma: 0.5 }, decay: { type: "step", every: 7, factor: 0.5 } },
    { given: { schedule: "constant" }, decay: { type: "constant" } },
  ])("configures the schedule $given.schedule", ({ given, decay }) => {
    expect(planTraining(taskOf({}, given), 100).learningRate.decay).toEqual(decay);
  });

  it.each([
    ["no rows", taskOf(), 0, "EMPTY_SPLIT", "no rows"],
    ["uneven micro-batches", taskOf({}, { batchSize: 25 }), 9, "BAD_TASK", "batchSize is 25"],
    ["a step decay without a step size", taskOf({}, { schedule: "step" }), 9, "BAD_TASK", "no stepSize"],
    ["several GPUs a process", taskOf({ gpusPerWorker: 4 }), 9, "BAD_TASK", "gpusPerWorker is 4"],
    [
      "a narrow format with a sharded optimizer",
      taskOf({ shardOptimizer: true }, { gradientFormat: "float16" }),
      9,
      "BAD_TASK",
      "gradientFormat is float16",
    ],
  ])("refuses %s", (_, task, rows, code, message) => {
    expect(() => planTraining(task, rows)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});
