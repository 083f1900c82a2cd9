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
    { optimizer: "sgd", config: { type: "sgd", weightDecay: 0.1 } },
    { optimizer: "adam", config: { type: "adam" } },
    { optimizer: "adamw", config: { type: "adamw", weightDecay: 0.1 } },
  ] as const)("configures $optimizer", ({ optimizer, config }) => {
    expect(planTraining(taskOf({}, { optimizer, weightDecay: 0.1 }), 100).optimizer).toEqual(config);
  });

  it.each([
    { name: "no rows", task: taskOf(), rows: 0, code: "EMPTY_SPLIT", message: "no rows" },
    {
      name: "uneven microshards",
      task: taskOf({}, { batchSize: 25 }),
      rows: 9,
      code: "BAD_TASK",
      message: "batchSize is 25",
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
