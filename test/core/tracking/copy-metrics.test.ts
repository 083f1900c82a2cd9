import type { MetricStore } from "../../../core/tracking/metric-store";
import { copyTrainingMetrics } from "../../../core/training/begin-training";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

describe("the metrics of a training that another run reuses", () => {
  const embedded = useEmbedded();
  let made = 0;

  async function setUp() {
    const { platform } = createTestPlatform(embedded);
    const [source, target] = [`run-source${++made}`, `run-target${made}`];
    for (const runId of [source, target]) await platform.runs.create(runOf(runId));
    const count = 6_000;
    const steps = Array.from({ length: count }, (_, i) => i + 1);
    const column = (metric: string, value: (step: number) => number) => ({
      metric,
      steps,
      values: steps.map(value),
      times: steps.map((step) => 1_000 * step),
    });
    await platform.metrics.append(source, [
      column("train/loss", (step) => (step === 7 ? Number.NaN : 1 / step)),
      column("train/learning-rate", () => 0.1),
      column("system/worker-0/rss", (step) => step),
    ]);
    const at = { steps: [count], times: [1] };
    await platform.metrics.append(source, [
      { metric: "validation/loss", values: [0.25], ...at },
      { metric: "test/accuracy", values: [0.9], ...at },
    ]);
    return { metrics: platform.metrics, source, target };
  }

  const copied = ["train/learning-rate", "train/loss", "validation/loss"];

  async function expectCopied(metrics: MetricStore, source: string, target: string): Promise<void> {
    const all = await metrics.summaries(source);
    expect(await metrics.summaries(target)).toEqual(all.filter(({ metric }) => copied.includes(metric)));
    for (const metric of copied) expect(await metrics.read(target, metric)).toEqual(await metrics.read(source, metric));
  }

  it("are written once, however often the copy is repeated", async () => {
    const { metrics, source, target } = await setUp();
    let writes = 0;
    const counting: typeof metrics = {
      ...metrics,
      append(runId, series) {
        writes += 1;
        return metrics.append(runId, series);
      },
    };
    await copyTrainingMetrics(counting, source, target);
    const first = writes;
    await copyTrainingMetrics(counting, source, target);
    expect(writes).toBe(first);
  });

  it("are copied whole, except those of machines and of the test split, also where a copy was killed in the middle", async () => {
    const { metrics, source, target } = await setUp();
    let writes = 0;
    const killed: typeof metrics = {
      ...metrics,
      append(runId, series) {
        writes += 1;
        return writes === 2 ? Promise.reject(new Error("killed here")) : metrics.append(runId, series);
      },
    };
    await expect(copyTrainingMetrics(killed, source, target)).rejects.toThrow("killed here");
    expect((await metrics.summaries(target)).length).toBeLessThan(copied.length);
    await copyTrainingMetrics(metrics, source, target);
    await expectCopied(metrics, source, target);
  });
});
