import { costOf, type Trace } from "../../support/training-trace";

/** A worker that finished these steps in these generations, one a millisecond of the same number. */
function trace(
  workerIndex: number,
  generations: readonly (readonly [generation: number, began: number, steps: readonly number[], from: number])[],
  more: Partial<Trace> = {},
): Trace {
  return {
    memberId: `job:${workerIndex}/1`,
    workerIndex,
    starts: generations.map(([generation, step, , at]) => ({ generation, worldSize: 2, step, at })),
    steps: generations.flatMap(([generation, , steps, from]) =>
      steps.map((step, i) => ({ generation, step, at: from + 1 + i })),
    ),
    ...more,
  };
}

describe("costOf", () => {
  it("counts from the kill to the first new step in a later generation", () => {
    const traces = [
      trace(0, [
        [1, 0, [1, 2, 3], 0],
        [2, 3, [4, 5], 200],
      ]),
      trace(1, [[1, 0, [1, 2, 3], 0]], { killedAt: 4 }),
    ];
    expect(costOf(traces, 4, ["job:1/1"])).toEqual({ resumeMs: 197, lostSteps: 0, repeatedSteps: 0 });
  });

  it("knows no resumption before training has begun, nor after its end", () => {
    const traces = [trace(0, [[1, 0, [1, 2], 100]])];
    expect(costOf(traces, 50, ["job:1/1"])).toEqual({ lostSteps: 0, repeatedSteps: 0 });
    expect(costOf(traces, 500, ["job:1/1"])).toEqual({ lostSteps: 0, repeatedSteps: 0 });
  });

  it("calls a step lost that a survivor had finished and others do again", () => {
    const traces = [
      trace(0, [
        [1, 0, [1, 2, 3], 0],
        [2, 2, [3, 4], 200],
      ]),
      trace(1, [
        [1, 0, [1, 2], 0],
        [2, 2, [3, 4], 200],
      ]),
      trace(2, [[1, 0, [1, 2], 0]], { killedAt: 4 }),
    ];
    expect(costOf(traces, 4, ["job:2/1"])).toMatchObject({ lostSteps: 2, repeatedSteps: 1 }); // of the gang, and of worker 0 itself
  });

  it("calls a step repeated, not lost, that the dead alone had finished", () => {
    const traces = [
      trace(0, [
        [1, 0, [1, 2], 0],
        [2, 2, [3], 200],
      ]),
      trace(1, [[1, 0, [1, 2, 3], 0]], { killedAt: 4 }),
    ];
    expect(costOf(traces, 4, ["job:1/1"])).toMatchObject({ lostSteps: 0, repeatedSteps: 1 });
  });

  it("does not expect of the others what one that was stopped had finished, unless it is back among them", () => {
    const stopped = { disturbedAt: 4 };
    const others = trace(0, [
      [1, 0, [1, 2], 0],
      [2, 2, [3], 200],
    ]);
    expect(costOf([others, trace(1, [[1, 0, [1, 2, 3], 0]], stopped)], 4, [])).toMatchObject({ lostSteps: 0 });
    const back = trace(
      1,
      [
        [1, 0, [1, 2, 3], 0],
        [2, 2, [], 200],
      ],
      stopped,
    );
    expect(costOf([others, back], 4, [])).toMatchObject({ lostSteps: 1 });
  });
});
