import type { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import type { Measures } from "../../../core/metering/metrics";
import type { MetricSeries, MetricStore } from "../../../core/tracking/metric-store";
import { ingest } from "../../../lambdas/ingest-metrics/handler";
import { createLambdaMetricSink } from "../../../trainer-container/telemetry/send-thread";
import { createMemoryRuns } from "../../core/training/life/memory-runs";
import { runOf } from "../../support/fixtures";

describe("what trainers send in addition to points", () => {
  const runs = createMemoryRuns();
  const measured: { measures: Measures; team?: string }[] = [];
  const written: (readonly string[])[] = [];
  const append = async (_run: string, series: readonly MetricSeries[]) =>
    void written.push(series.map(({ metric }) => metric));
  const key = "k".repeat(64);
  const send = (more: object) =>
    ingest(
      async () => ({
        runs,
        team: "vision",
        metrics: { append } as unknown as MetricStore,
        meter: {
          emit: (measures: Measures, team?: string) => void measured.push({ measures, ...(team ? { team } : {}) }),
        },
      }),
      { find: async () => key },
      { runId: "run-1", runKey: key, series: [], ...more },
    );
  beforeAll(async () => void (await runs.create(runOf("run-1"))));

  it("keeps the first record: a process's machine does not change", async () => {
    const machine = { memberId: "job:0/1", instanceType: "c6i.large", availabilityZone: "eu-central-1a" };
    await send({ machine });
    await send({ machine: { ...machine, instanceType: "p5.48xlarge" } });
    expect((await runs.findDetails("run-1"))!.machines).toEqual([machine]);
  });

  it("is measured once for each generation that came back, however often it is sent", async () => {
    const recovery = (generation: number) => ({ generation, step: 9, seconds: generation / 2 });
    await send({ recoveries: [recovery(2)] });
    await Promise.all([send({ recoveries: [recovery(2), recovery(3)] }), send({ recoveries: [recovery(3)] })]);
    expect(measured).toEqual([
      { measures: { RecoveryTime: 1 }, team: "vision" },
      { measures: { RecoveryTime: 1.5 }, team: "vision" },
    ]);
  });

  it("is refused under the names of what the evaluation measures, as a whole", async () => {
    const one = (metric: string) => ({ metric, steps: [1], values: [1], times: [1] });
    const [before] = written.slice(-1);
    const series = [one("train/loss"), one("test/accuracy")];
    await expect(send({ series })).rejects.toMatchObject({ code: "RUN_FIELD_FIXED" });
    expect(written.at(-1)).toBe(before);
    await send({ series: [one("train/loss"), one("latest/accuracy")] });
    expect(written.at(-1)).toEqual(["train/loss", "latest/accuracy"]);
  });

  it("is refused once the run has ended", async () => {
    await runs.create(runOf("run-ended", { status: "completed" }));
    const machine = { memberId: "late", instanceType: "c6i.large" };
    await expect(send({ runId: "run-ended", machine })).rejects.toMatchObject({ code: "RUN_ENDED" });
    expect((await runs.findDetails("run-ended"))!.machines).toEqual([]);
  });

  it("keeps NaN and infinities on the way from a trainer's sink to the store", async () => {
    const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0.5];
    const series = [{ metric: "train/loss", steps: [1, 2, 3, 4], values, times: [1, 2, 3, 4] }];
    const stored: unknown[] = [];
    const lambda = {
      async send({ input }: InvokeCommand) {
        const forRun = async () => ({
          runs,
          team: "vision",
          meter: { emit: () => undefined },
          metrics: {
            async append(_runId: string, given: readonly MetricSeries[]) {
              stored.push(...given);
              return { duplicate: false };
            },
          } as unknown as MetricStore,
        });
        await ingest(forRun, { find: async () => key }, JSON.parse(input.Payload as string));
        return {};
      },
    } as unknown as LambdaClient;
    await createLambdaMetricSink(lambda, "ingest", key).send({ runId: "run-1", series });
    expect(stored).toEqual(series);
  });

  it.each([
    ["a recovery before it began", { recoveries: [{ generation: 2, step: 1, seconds: -1 }] }],
    ["a machine without a type", { machine: { memberId: "m" } }],
    ["a name without end", { machine: { memberId: "m".repeat(201), instanceType: "c6i.large" } }],
  ])("is refused where it cannot be: %s", async (_name, more) => {
    await expect(send(more)).rejects.toThrow("the metric batch is not valid");
  });
});
