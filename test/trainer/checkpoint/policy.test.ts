import { bestCheckpoint, expiredCheckpoints } from "../../../trainer-container/checkpoint/policy";
import { tensorGroups } from "../../../trainer-container/checkpoint/state";

const rule = { everySteps: 10, stepsPerEpoch: 4, everySeconds: 60, keep: 2 };

describe("retention", () => {
  const checkpoints = [
    { finishedSteps: 10 },
    { finishedSteps: 20, validationLoss: 0.5 },
    { finishedSteps: 30, validationLoss: 0.5 },
    { finishedSteps: 40, validationLoss: Number.NaN },
    { finishedSteps: 50, validationLoss: 0.9 },
  ];

  it("calls the earliest of the lowest losses the best", () => {
    expect(bestCheckpoint(checkpoints)?.finishedSteps).toBe(20);
    expect(bestCheckpoint([{ finishedSteps: 1 }])).toBeUndefined();
  });

  it("lets all go but the newest and the best", () => {
    expect(expiredCheckpoints(checkpoints, rule)).toEqual([30, 10]);
    expect(expiredCheckpoints(checkpoints, { ...rule, keep: 9 })).toEqual([]);
  });

  it("keeps a checkpoint outside of the schedule until a newer one is there, and never in place of one of the schedule", () => {
    const steps = (...all: readonly number[]) => all.map((finishedSteps) => ({ finishedSteps }));
    expect(expiredCheckpoints(steps(4, 8, 10, 11), rule)).toEqual([4]);
    expect(expiredCheckpoints(steps(8, 10, 11, 13), rule)).toEqual([11]);
    expect(expiredCheckpoints(steps(8, 10, 11, 12), rule)).toEqual([11, 8]);
  });
});

describe("tensorGroups", () => {
  it("joins neighbours until they are large enough and never splits one", () => {
    const sizes = [1, 1, 300, 2, 1];
    const layout = sizes.map((size, index) => ({ name: `p${index}`, shape: [size], offset: 0, size }));
    const names = tensorGroups(layout, 1_000).map((group) => group.map(({ name }) => name));
    expect(names).toEqual([
      ["p0", "p1", "p2"],
      ["p3", "p4"],
    ]);
    expect(tensorGroups([], 1_000)).toEqual([]);
  });
});
