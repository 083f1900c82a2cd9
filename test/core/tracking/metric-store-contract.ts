import type { MetricSeries, MetricStore } from "../../../core/tracking/metric-store";

const series = (from: number, to: number, metric = "train/loss"): MetricSeries => {
  const steps = Array.from({ length: to - from }, (_, i) => from + i);
  return { metric, steps, values: steps.map((step) => 100 - step), times: steps };
};

/** Defines what every `MetricStore` must do. @param open a store of a team that has all training runs but `run-of-others` */
export function metricStoreContract(open: () => MetricStore): void {
  let metrics: MetricStore;
  beforeAll(() => {
    metrics = open();
  });

  it("stores a batch of a receipt once", async () => {
    const receipt = { writer: "w", sequence: 1 };
    expect(await metrics.append("run-receipt", [series(0, 2)], receipt)).toEqual({ duplicate: false });
    expect(await metrics.append("run-receipt", [series(2, 4)], receipt)).toEqual({ duplicate: true });
    expect(await metrics.read("run-receipt", "train/loss")).toHaveLength(2);
  });

  it("stores nothing for an append without points", async () => {
    expect(await metrics.append("run-empty", [])).toEqual({ duplicate: false });
    expect(await metrics.summaries("run-empty")).toEqual([]);
  });

  it.each([
    ["NaN and the infinities", [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0]],
    ["doubles that DynamoDB has no number for", [1e300, -1e-300, 2 ** 60, 0.1]],
  ])("keeps %s", async (name, values) => {
    const runId = `run ${name}`;
    await metrics.append(runId, [{ metric: "odd", steps: [1, 2, 3, 4], values, times: [1, 2, 3, 4] }]);
    expect((await metrics.read(runId, "odd")).map(({ value }) => value)).toEqual(values);
    expect((await metrics.history(runId, "odd", { limit: 9 })).points.map(({ value }) => value)).toEqual(values);
    expect((await metrics.downsample(runId, "odd", 9)).points.map(({ value }) => value)).toEqual(values);
  });

  it("continues after a position and finds what was added", async () => {
    await metrics.append("run-after", [series(0, 1_000), series(0, 5, "train/loss2")]);
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
    await metrics.append("run-after", [series(800, 1_100)]);
    await readOn();
    await metrics.append("run-after", [series(1_100, 1_101)]);
    await readOn();
    expect(steps).toEqual(Array.from({ length: 1_101 }, (_, i) => i));
    expect(position.step).toBe(1_100);
  });

  it("refuses a token that no page had", async () => {
    await expect(metrics.history("run-pages", "train/loss", { limit: 6, token: "x" })).rejects.toThrow("token");
  });

  it("refuses every access to a run of another team", async () => {
    const runId = "run-of-others";
    for (const access of [
      metrics.append(runId, [series(0, 1)]),
      metrics.append(runId, []),
      metrics.read(runId, "train/loss"),
      metrics.readAfter(runId, "train/loss", { step: -1, item: 0 }),
      metrics.downsample(runId, "train/loss", 10),
      metrics.history(runId, "train/loss", { limit: 10 }),
      metrics.summaries(runId),
    ])
      await expect(access).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    await metrics.append("run-own", [series(0, 1)]);
    expect([...(await metrics.summariesOf([runId, "run-own", "run-none"])).keys()]).toEqual(["run-own"]);
  });
}
