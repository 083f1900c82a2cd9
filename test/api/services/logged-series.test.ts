import fc from "fast-check";
import { seriesOf, surelyLoggedMetrics } from "../../../api/routes/tracked-metrics";
import { logMetricsBody, metricLimits } from "../../../api/schemas/metrics";

const series = (one: object = {}) => ({ series: [{ metric: "loss", steps: [1], values: [0.5], ...one }] });

describe("a call that logs metrics", () => {
  it.each([
    ["a point", series()],
    ["times and a receipt", { writer: "w", sequence: 0, ...series({ times: [3] }) }],
    ["odd values", series({ steps: [-1, 0, 2 ** 53 - 1], values: ["NaN", "Infinity", -1e300] })],
    ["an odd name", series({ metric: "ä #/🙂" })],
  ])("with %s is taken as it is", (_what, body) => {
    expect(surelyLoggedMetrics(body)).toBe(true);
    expect(logMetricsBody.parse(body)).toEqual(body);
  });

  it.each([
    ["nothing", undefined],
    ["no series", { series: [] }],
    ["a sequence of nobody", { sequence: 1, ...series() }],
    ["a writer without a sequence", { writer: "w", ...series() }],
    ["another member", { ...series(), more: 1 }],
    ["half a step", series({ steps: [0.5] })],
    ["a step past what a double counts", series({ steps: [2 ** 53] })],
    ["fewer values than steps", series({ steps: [1, 2] })],
    ["a value of another kind", series({ values: ["1"] })],
    ["no name", series({ metric: "" })],
    ["a name of control characters", series({ metric: "a\u0000" })],
    ["too long a name", series({ metric: "x".repeat(251) })],
    [
      "too many points",
      series({ steps: new Array(metricLimits.points + 1).fill(1), values: new Array(metricLimits.points + 1).fill(1) }),
    ],
  ])("with %s is not", (_what, body) => {
    expect(surelyLoggedMetrics(body)).toBe(false);
    expect(logMetricsBody.safeParse(body).success).toBe(false);
  });

  it("is never taken where its contract would refuse it", () => {
    const step = fc.oneof(fc.integer(), fc.double(), fc.constant(null));
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom("NaN", "-Infinity", "x", true),
    );
    const some = fc.record(
      {
        metric: fc.string({ unit: "binary", maxLength: 3 }),
        steps: fc.array(step, { maxLength: 2 }),
        values: fc.array(value, { maxLength: 2 }),
        times: fc.array(step, { maxLength: 2 }),
        x: fc.constant(1),
      },
      { requiredKeys: ["metric", "steps", "values"] },
    );
    const body = fc.record(
      { writer: fc.string({ maxLength: 2 }), sequence: step, series: fc.array(some, { maxLength: 2 }) },
      { requiredKeys: ["series"] },
    );
    fc.assert(
      fc.property(body, (one) => {
        expect(surelyLoggedMetrics(one)).toBe(logMetricsBody.safeParse(one).success);
      }),
      { numRuns: 500 },
    );
  });

  it("without times has the present time", () => {
    expect(seriesOf(series({ steps: [1, 2], values: [1, 2] }), 7)).toEqual([
      { metric: "loss", steps: [1, 2], values: [1, 2], times: [7, 7] },
    ]);
  });
});
