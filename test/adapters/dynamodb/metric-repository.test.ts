import { createMetricStore } from "../../../adapters/dynamodb/metric-store";
import { ingest } from "../../../core/tracking/ingest";
import type { MetricSeries } from "../../../core/tracking/metric-batch";
import type { MetricRepository } from "../../../core/tracking/metric-repository";
import { teamMetrics } from "../../../core/tracking/team-metrics";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

const series = (from: number, to: number, metric = "train/loss"): MetricSeries => {
  const steps = Array.from({ length: to - from }, (_, i) => from + i);
  return { metric, steps, values: steps.map((step) => 100 - step), times: steps };
};

describe("metric points in DynamoDB", () => {
  let embedded: Embedded;
  let platform: ReturnType<typeof createTestPlatform>["platform"];
  let metrics: MetricRepository;
  beforeAll(async () => {
    embedded = await startEmbedded();
    ({ platform } = createTestPlatform(embedded));
    const all = createMetricStore(embedded.dynamodb, platform.config.tables.metrics);
    const identify = async (runId: string) => ({ runId, team: "t", experimentId: "0", source: "training" as const });
    metrics = teamMetrics(all, "t", { identify, changes: { mark: async () => undefined } });
  });
  afterAll(() => embedded.stop());

  it("reads each point once, though batches come twice, late and with other borders", async () => {
    for (const batch of [series(10, 20), series(0, 10), series(10, 20), series(5, 25), series(10, 12)]) {
      await metrics.write("run-m", [batch]);
    }
    expect((await metrics.read("run-m", "train/loss")).map(({ step, value }) => [step, value])).toEqual(
      Array.from({ length: 25 }, (_, step) => [step, 100 - step]),
    );
    expect(await metrics.summaries("run-m")).toEqual([
      { metric: "train/loss", last: 76, lastStep: 24, lastTime: 24, min: 76, max: 100 },
    ]);
  });

  it("packs a long series into few items, in the order of steps", async () => {
    await metrics.write("run-long", [series(0, 1_000)]);
    const points = await metrics.read("run-long", "train/loss");
    expect(points).toHaveLength(1_000);
    expect(points.every((point, i) => point.step === i)).toBe(true);
  });

  it("keeps NaN and the infinities", async () => {
    const odd: MetricSeries = {
      metric: "odd",
      steps: [1, 2, 3],
      values: ["NaN", "Infinity", "-Infinity"],
      times: [1, 2, 3],
    };
    await metrics.write("run-odd", [odd]);
    expect((await metrics.read("run-odd", "odd")).map(({ value }) => value)).toEqual([Number.NaN, Infinity, -Infinity]);
  });

  it("keeps doubles that DynamoDB has no number for", async () => {
    const values = [1e300, -1e-300, 2 ** 60, 0.1];
    await metrics.write("run-wide", [{ metric: "wide", steps: [1, 2, 3, 4], values, times: [1, 2, 3, 4] }]);
    expect((await metrics.read("run-wide", "wide")).map(({ value }) => value)).toEqual(values);
  });

  it("goes on after a position, item by item, and sees an item that has grown", async () => {
    await metrics.write("run-after", [series(0, 1_000), series(0, 5, "train/loss2")]);
    const steps: number[] = [];
    let position = { step: -1, item: 0 };
    const readOn = async () => {
      for (let more = true; more; ) {
        const page = await metrics.readAfter("run-after", "train/loss", position);
        steps.push(...page.points.map(({ step }) => step));
        ({ position, more } = page);
      }
    };
    await readOn();
    await readOn();
    await metrics.write("run-after", [series(800, 1_100)]); // the last item, longer
    await readOn();
    await metrics.write("run-after", [series(1_100, 1_101)]);
    await readOn();
    expect(steps).toEqual(Array.from({ length: 1_101 }, (_, i) => i));
    expect(position.step).toBe(1_100);
  });

  it("a metric whose name begins like another's is another", async () => {
    await metrics.write("run-prefix", [series(0, 2, "loss"), series(0, 3, "loss2")]);
    expect(await metrics.read("run-prefix", "loss")).toHaveLength(2);
  });

  it.each([
    ["columns of unlike length", { series: [{ metric: "x", steps: [1, 2], values: [1], times: [1, 2] }] }],
    ["steps that do not ascend", { series: [{ metric: "x", steps: [2, 1], values: [1, 1], times: [1, 2] }] }],
    ["a name with a #", { series: [{ metric: "x#y", steps: [1], values: [1], times: [1] }] }],
  ])("takes no batch with %s", async (_name, batch) => {
    await platform.runs.create(runOf("run-ingest"));
    await expect(
      ingest(platform.forRun, platform.runKeys, { runId: "run-ingest", runKey: "k", ...batch }),
    ).rejects.toThrow("the metric batch is not valid");
  });

  it("takes no batch for a run that is not there", async () => {
    await expect(
      ingest(platform.forRun, platform.runKeys, { runId: "run-gone", runKey: "k", series: [] }),
    ).rejects.toThrow('no run "run-gone"');
  });
});
