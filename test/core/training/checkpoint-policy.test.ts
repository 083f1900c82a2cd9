import { bestCheckpoint, expiredCheckpoints, isCheckpointDue } from "../../../core/training/checkpoint/policy";
import { tensorGroups } from "../../../core/training/checkpoint/tensor-groups";

describe("isCheckpointDue", () => {
  const rule = { everySteps: 10, everySeconds: 60 };
  const last = { finishedSteps: 7, at: 0 };

  it.each([
    { name: "the step of the last one", step: 7, at: 999_999, epochEnd: true, due: false },
    { name: "nothing yet", step: 9, at: 59_999, epochEnd: false, due: false },
    { name: "a multiple of everySteps", step: 10, at: 0, epochEnd: false, due: true },
    { name: "past a multiple that was missed", step: 12, at: 0, epochEnd: false, due: true },
    { name: "time", step: 8, at: 60_000, epochEnd: false, due: true },
    { name: "an epoch's end", step: 8, at: 0, epochEnd: true, due: true },
  ])("$name → $due", ({ step, at, epochEnd, due }) => {
    expect(isCheckpointDue(rule, last, { finishedSteps: step, at }, epochEnd)).toBe(due);
  });
});

describe("retention", () => {
  const checkpoints = [
    { finishedSteps: 10 },
    { finishedSteps: 20, validationLoss: 0.5 },
    { finishedSteps: 30, validationLoss: 0.5 },
    { finishedSteps: 40, validationLoss: Number.NaN },
    { finishedSteps: 50, validationLoss: 0.9 },
  ];

  it("calls the earliest of the lowest losses the best", () => {
    expect(bestCheckpoint(checkpoints)).toBe(20);
    expect(bestCheckpoint([{ finishedSteps: 1 }])).toBeUndefined();
  });

  it("lets all go but the newest and the best", () => {
    expect(expiredCheckpoints(checkpoints, 2)).toEqual([30, 10]);
    expect(expiredCheckpoints(checkpoints, 9)).toEqual([]);
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
