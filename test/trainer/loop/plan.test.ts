import { planTraining } from "../../../trainer-container/loop/plan";
import { taskOf } from "./in-process";

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
    { name: "no rows", task: taskOf(), rows: 0, code: "EMPTY_SPLIT", message: "no rows" },
    {
      name: "uneven micro-batches",
      task: taskOf({}, { batchSize: 25 }),
      rows: 9,
      code: "BAD_TASK",
      message: "batchSize is 25",
    },
    {
      name: "a step decay without a step size",
      task: taskOf({}, { schedule: "step" }),
      rows: 9,
      code: "BAD_TASK",
      message: "no stepSize",
    },
    {
      name: "several GPUs a process",
      task: taskOf({ gpusPerWorker: 4 }),
      rows: 9,
      code: "BAD_TASK",
      message: "gpusPerWorker is 4",
    },
    {
      name: "a narrow format with a sharded optimizer",
      task: taskOf({ shardOptimizer: true }, { gradientFormat: "float16" }),
      rows: 9,
      code: "BAD_TASK",
      message: "gradientFormat is float16",
    },
  ])("refuses $name", ({ task, rows, code, message }) => {
    expect(() => planTraining(task, rows)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });
});
