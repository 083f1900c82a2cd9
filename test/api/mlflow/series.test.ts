import { seriesOf } from "../../../api/mlflow/tracking/log-batch";
import { sampled } from "../../../api/mlflow/tracking/metrics";

const metric = (key: string, step: number, timestamp: number, value: number) => ({ key, step, timestamp, value });

describe("a batch as columns", () => {
  it("is by metric, ascending by step, time and value, each point once", () => {
    expect(
      seriesOf([
        metric("b", 0, 1, 5),
        metric("a", 2, 1, 1),
        metric("a", 1, 2, 3),
        metric("a", 1, 1, 4),
        metric("a", 1, 1, 2),
        metric("a", 1, 1, 4),
        metric("a", 1, 1, Number.NaN),
        metric("a", 1, 1, Number.NaN),
        metric("a", 1, 1, Number.NEGATIVE_INFINITY),
      ]),
    ).toEqual([
      { metric: "b", steps: [0], values: [5], times: [1] },
      {
        metric: "a",
        steps: [1, 1, 1, 1, 1, 2],
        values: [Number.NEGATIVE_INFINITY, 2, 4, Number.NaN, 3, 1],
        times: [1, 1, 1, 1, 2, 1],
      },
    ]);
  });
});

describe("a sample", () => {
  const points = Array.from({ length: 10 }, (_, step) => ({ step, time: 1, value: step * step }));
  // SQL's NTILE(4) of ten rows: 3, 3, 2, 2.
  it.each([
    [4, [0, 3, 6, 9]],
    [3, [0, 4, 9]],
    [2, [0, 9]],
    [1, [9]],
    [10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [99, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
  ])("of %d has the first of each bucket, and the last point", (most, steps) =>
    expect(sampled([...points].reverse(), most).map(({ step }) => step)).toEqual(steps),
  );
});
