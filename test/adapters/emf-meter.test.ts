import { createEmfMeter } from "../../adapters/cloudwatch/emf-meter";
import { type Measures, operationalMetrics } from "../../core/metering/metrics";
import { IngestLag } from "../../lambdas/ingest-metrics/handler";

function metered() {
  const lines: string[] = [];
  const meter = createEmfMeter((line) => lines.push(line), { now: () => 1_767_225_600_000 }, "ringmaster");
  return { meter, read: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe("metrics as lines of a log", () => {
  it("have CloudWatch's embedded metric format", () => {
    const { meter, read } = metered();
    meter.emit({ WorkerHours: 2, EstimatedDollars: 0.5 }, "vision", { runId: "run-1" });
    expect(read()).toEqual([
      {
        runId: "run-1",
        platform: "ringmaster",
        team: "vision",
        WorkerHours: 2,
        EstimatedDollars: 0.5,
        _aws: {
          Timestamp: 1_767_225_600_000,
          CloudWatchMetrics: [
            {
              Namespace: "Ringmaster",
              Dimensions: [["platform", "team"]],
              Metrics: [
                { Name: "WorkerHours", Unit: "None" },
                { Name: "EstimatedDollars", Unit: "None" },
              ],
            },
          ],
        },
      },
    ]);
  });

  it("have one set of dimensions each; the platform's own have no team", () => {
    const { meter, read } = metered();
    meter.emit({ QueueWait: 3, JobWait: 4 }, "vision");
    const [{ _aws }] = read() as [
      { _aws: { CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[] } },
    ];
    expect(
      _aws.CloudWatchMetrics.map(({ Dimensions, Metrics }) => [Dimensions, Metrics.map(({ Name }) => Name)]),
    ).toEqual([
      [[["platform", "team"]], ["QueueWait"]],
      [[["platform"]], ["JobWait"]],
    ]);
  });

  it("are split into lines of a hundred values, without values that CloudWatch refuses", () => {
    const { meter, read } = metered();
    meter.emit({ MetricIngestLag: Array.from({ length: 250 }, (_, i) => i) });
    expect(read().map(({ MetricIngestLag }) => (MetricIngestLag as number[]).length)).toEqual([100, 100, 50]);
    const broken = metered();
    broken.meter.emit({ RunDuration: Number.NaN, RunsFailed: 1 }, "vision");
    expect(broken.read()).toMatchObject([{ RunsFailed: 1 }]);
    expect(broken.read()[0]).not.toHaveProperty("RunDuration");
    broken.meter.emit({ RunDuration: Number.POSITIVE_INFINITY }, "vision");
    expect(broken.read()).toHaveLength(1);
  });

  it("respect the format's limits for any combination of metrics", () => {
    expect(Object.keys(operationalMetrics).length).toBeLessThanOrEqual(100);
    for (const name of Object.keys(operationalMetrics)) expect(name).toMatch(/^[A-Z][A-Za-z]{1,254}$/);
  });

  it("collects lags of many batches into a line", () => {
    const emitted: Measures[] = [];
    const lag = new IngestLag({ emit: (measures) => void emitted.push(measures) });
    const series = (time: number) => [{ metric: "train/loss", steps: [1], values: [1], times: [time] }];
    lag.stored(series(1_000), 1_500);
    lag.stored([], 1_600);
    lag.stored(series(9_000), 11_400);
    expect(emitted).toEqual([]);
    lag.stored(series(11_000), 11_600);
    expect(emitted).toEqual([{ MetricIngestLag: [0.5, 2.4, 0.6] }]);
  });
});
