import { loggedMetricsOf } from "../../../core/registry/logged-metrics";
import type { LoggedModelMetric } from "../../../core/tracking/logged-model";

const point = (key: string, value: number, step: number, timestamp = 0): LoggedModelMetric => ({
  key,
  value,
  step,
  timestamp,
  runId: "r",
});

it("what was logged of a version: its run's last values, and before those its logged model's", async () => {
  const requested: (readonly string[])[] = [];
  const ports = {
    metrics: {
      async summariesOf(runIds: readonly string[]) {
        requested.push(runIds);
        const summary = (metric: string, last: number) => ({
          metric,
          last,
          min: 0,
          max: 1,
          count: 1,
          step: 1,
          time: 0,
        });
        return new Map([["r", [summary("accuracy", 0.7), summary("loss", 0.3)]]]) as never;
      },
    },
    loggedModels: {
      async find(modelId: string) {
        const metrics = [
          point("accuracy", 0.8, 2),
          point("accuracy", 0.5, 1),
          point("auc", 0.1, 3, 1),
          point("auc", 0.9, 3, 2),
        ];
        return modelId === "m-1" ? ({ modelId, metrics } as never) : undefined;
      },
    },
  };
  const found = await loggedMetricsOf(ports, [
    { version: 1, runId: "r" },
    { version: 2, runId: "r", loggedModelId: "m-1" },
    { version: 3, loggedModelId: "m-gone" },
    { version: 4, runId: "nobody's" },
    { version: 5 },
    { version: 6, runId: "trained", artifactKey: "k" },
  ]);
  expect(Object.fromEntries(found)).toEqual({
    1: { accuracy: 0.7, loss: 0.3 },
    2: { accuracy: 0.8, loss: 0.3, auc: 0.9 },
  });
  expect(requested).toEqual([["r", "nobody's"]]);
});
