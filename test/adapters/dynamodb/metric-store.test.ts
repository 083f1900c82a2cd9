import { MetricRows } from "../../../adapters/dynamodb/metric-rows";
import { createMetricStore, MetricLogs } from "../../../adapters/dynamodb/metric-store";
import { ingest } from "../../../lambdas/ingest-metrics/handler";
import { metricStoreContract } from "../../core/tracking/metric-store-contract";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

describe("metric points in DynamoDB", () => {
  const embedded = useEmbedded();
  let platform: ReturnType<typeof createTestPlatform>["platform"];
  beforeAll(() => {
    ({ platform } = createTestPlatform(embedded));
  });

  metricStoreContract(() => {
    const logs = new MetricLogs(new MetricRows(embedded.dynamodb, platform.config.tables.metrics));
    const teamOf = (runId: string) => (runId === "run-of-others" ? "others" : "t");
    const identify = async (runId: string) =>
      runId === "run-none" ? undefined : { runId, team: teamOf(runId), experimentId: "0", source: "training" as const };
    return createMetricStore(logs, "t", { identify, changes: { mark: async () => undefined } });
  });

  it.each([
    ["columns of unlike length", { series: [{ metric: "x", steps: [1, 2], values: [1], times: [1, 2] }] }],
    ["steps that do not ascend", { series: [{ metric: "x", steps: [2, 1], values: [1, 1], times: [1, 2] }] }],
    ["a name with a #", { series: [{ metric: "x#y", steps: [1], values: [1], times: [1] }] }],
    ["a value that is no number", { series: [{ metric: "x", steps: [1], values: ["1"], times: [1] }] }],
  ])("takes no batch with %s", async (_name, batch) => {
    await platform.runs.create(runOf("run-ingest"));
    await expect(
      ingest(platform.forRun, platform.runKeys, { runId: "run-ingest", runKey: "k", ...batch }),
    ).rejects.toThrow("the metric batch is not valid");
  });

  it("refuses a batch for a missing run", async () => {
    await expect(
      ingest(platform.forRun, platform.runKeys, { runId: "run-gone", runKey: "k", series: [] }),
    ).rejects.toThrow('no run "run-gone"');
  });
});
