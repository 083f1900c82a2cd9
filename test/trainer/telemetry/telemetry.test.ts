import type { TrainingProgress } from "../../../core/runs/progress";
import type { MetricBatch } from "../../../core/tracking/metric-store";
import { packPoints, unpackPoints } from "../../../trainer-container/telemetry/packed-points";
import { systemMetrics, WorkerRoster } from "../../../trainer-container/telemetry/progress";
import { SendQueue } from "../../../trainer-container/telemetry/send-queue";
import { createTelemetry, PointBuffer } from "../../../trainer-container/telemetry/telemetry";

describe("PointBuffer", () => {
  it("gives columns a metric with NaN and infinities as numbers, and forgets what it gave", () => {
    const points = new PointBuffer();
    points.add("loss", 1, 0.5, 10);
    points.add("loss", 2, Number.NaN, 20);
    points.add("norm", 1, Number.NEGATIVE_INFINITY, 30);
    expect(points.size).toBe(3);
    expect(points.take(10)).toEqual([
      { metric: "loss", steps: [1, 2], values: [0.5, Number.NaN], times: [10, 20] },
      { metric: "norm", steps: [1], values: [Number.NEGATIVE_INFINITY], times: [30] },
    ]);
    expect(points.size).toBe(0);
    expect(points.take(10)).toEqual([]);
  });

  it("takes at most the requested number, oldest first", () => {
    const points = new PointBuffer();
    for (let step = 1; step <= 5; step += 1) points.add("loss", step, step, 0);
    expect(points.take(2)[0]!.steps).toEqual([1, 2]);
    expect(points.take(9)[0]!.steps).toEqual([3, 4, 5]);
  });

  it("keeps steps ascending and each once", () => {
    const points = new PointBuffer();
    for (const step of [1, 4, 4, 2, 1]) points.add("loss", step, step * 10, step);
    expect(points.take(9)).toEqual([{ metric: "loss", steps: [1, 2, 4], values: [10, 20, 40], times: [1, 2, 4] }]);
  });

  it("trims to the newest of each metric", () => {
    const points = new PointBuffer();
    for (let step = 1; step <= 5; step += 1) points.add("loss", step, step, 0);
    points.add("norm", 1, 1, 0);
    points.trim(2);
    expect(points.size).toBe(3);
    expect(points.take(9).map(({ steps }) => steps)).toEqual([[4, 5], [1]]);
  });
});

describe("createTelemetry", () => {
  const progress = { step: 3 } as TrainingProgress;

  function open() {
    const sent: MetricBatch[] = [];
    const queue = new SendQueue({
      sink: { send: async (batch) => void sent.push(batch) },
      directory: "/nonexistent/never-written",
      onRefused: () => undefined,
      onTrouble: () => undefined,
      random: () => 0,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    });
    return { sent, telemetry: createTelemetry("run-1", queue, { now: () => 99 }) };
  }
  const metricsOf = (sent: readonly MetricBatch[]) => sent.flatMap(({ series }) => series.map(({ metric }) => metric));

  it("lets only the leader speak for all, and everyone for itself", async () => {
    for (const leader of [true, false]) {
      const { sent, telemetry } = open();
      telemetry.lead(leader);
      telemetry.shared("train/loss", 3, 0.5);
      telemetry.own("system/worker-1/rss", 3, 1e9);
      telemetry.progress(() => progress);
      await telemetry.close(1_000);
      expect(metricsOf(sent)).toEqual(leader ? ["system/worker-1/rss", "train/loss"] : ["system/worker-1/rss"]);
      expect(sent.some((batch) => batch.progress !== undefined)).toBe(leader);
      expect(sent[0]).toMatchObject({ runId: "run-1" });
    }
  });

  it("lets a new leader tell again what the old one may have taken with it", async () => {
    const { sent, telemetry } = open();
    telemetry.lead(false);
    for (let step = 1; step <= 3; step += 1) telemetry.shared("train/loss", step, step);
    telemetry.lead(true);
    telemetry.shared("train/loss", 4, 4);
    await telemetry.close(1_000);
    expect(sent[0]!.series).toEqual([
      { metric: "train/loss", steps: [1, 2, 3, 4], values: [1, 2, 3, 4], times: [99, 99, 99, 99] },
    ]);
  });

  it("lets a replaced leader send what it has not sent yet", async () => {
    const { sent, telemetry } = open();
    telemetry.lead(true);
    telemetry.shared("train/loss", 1, 1);
    telemetry.lead(false);
    telemetry.shared("train/loss", 2, 2); // the new leader tells of this one
    await telemetry.close(1_000);
    expect(sent.flatMap(({ series }) => series.flatMap(({ steps }) => steps))).toEqual([1]);
  });

  it("lets a rank that does not lead hand over what it kept, once", async () => {
    const { sent, telemetry } = open();
    telemetry.lead(false);
    telemetry.shared("train/loss", 1, 1);
    telemetry.progress(() => progress);
    telemetry.handOver();
    telemetry.handOver();
    telemetry.shared("train/loss", 2, 2);
    await telemetry.close(1_000);
    expect(sent).toEqual([{ runId: "run-1", series: [expect.objectContaining({ steps: [1] })] }]);
  });

  it("is settled when the points so far are stored, without waiting for the half second to be over", async () => {
    const { sent, telemetry } = open();
    telemetry.lead(true);
    for (let step = 1; step <= 3; step += 1) telemetry.shared("train/loss", step, step);
    await telemetry.settled(1_000);
    expect(sent.flatMap(({ series }) => series.flatMap(({ steps }) => steps))).toEqual([1, 2, 3]);
    await telemetry.close(0);
  });

  it("knows the points that are not stored, up to a step, until they are", async () => {
    const stored: (() => void)[] = [];
    const sender = { post: () => new Promise<void>((resolve) => stored.push(resolve)), close: async () => undefined };
    const telemetry = createTelemetry("run-1", sender, { now: () => 99 });
    telemetry.lead(true);
    const steps = (upTo: number) => telemetry.unsent(upTo).flatMap((one) => one.steps);
    for (let step = 1; step <= 3; step += 1) telemetry.shared("train/loss", step, step);
    expect(steps(2)).toEqual([1, 2]);
    const first = telemetry.settled(60_000);
    telemetry.shared("train/loss", 4, 4);
    telemetry.own("system/worker-0/rss", 4, 1e9);
    expect([steps(0), steps(3), steps(9)]).toEqual([[], [1, 2, 3], [1, 2, 3, 4, 4]]);
    stored[0]!();
    await first;
    expect(steps(9)).toEqual([4, 4]);
    await telemetry.close(0);
  });

  it("keeps the newest of an outage's points for checkpoints", async () => {
    const sender = { post: () => new Promise<void>(() => undefined), close: async () => undefined };
    const telemetry = createTelemetry("run-1", sender, { now: () => 99 });
    telemetry.lead(true);
    for (let step = 1; step <= 25_000; step += 1) {
      telemetry.shared("train/loss", step, 0);
      if (step % 4_000 === 0) await telemetry.settled(0);
    }
    const steps = telemetry.unsent(30_000).flatMap((one) => one.steps);
    expect([steps[0], steps.at(-1), steps.length]).toEqual([16_001, 25_000, 9_000]);
    await telemetry.close(0);
  });

  it("sends what a checkpoint carried, with the times that it had, and each step once", async () => {
    const series = { metric: "train/loss", steps: [1, 2], values: [0.5, Number.NaN], times: [10, 20] } as const;
    const { sent, telemetry } = open();
    telemetry.resume(unpackPoints(packPoints([series, { ...series, steps: [2, 3] }])));
    telemetry.lead(true);
    telemetry.shared("train/loss", 3, 0.25);
    telemetry.shared("train/loss", 4, 0.125);
    await telemetry.close(1_000);
    expect(sent.flatMap((batch) => batch.series)).toEqual([
      {
        metric: "train/loss",
        steps: [1, 2, 3, 4],
        values: [0.5, Number.NaN, Number.NaN, 0.125],
        times: [10, 20, 20, 99],
      },
    ]);
  });

  it("makes names fit the store's rule", async () => {
    const { sent, telemetry } = open();
    telemetry.lead(true);
    telemetry.shared("train/mean error (°C)", 1, 1);
    await telemetry.close(1_000);
    expect(metricsOf(sent)).toEqual(["train/mean_error_C_"]);
  });
});

describe("WorkerRoster", () => {
  const member = (id: string, rank: number, workerIndex = rank) => ({
    memberId: id,
    rank,
    workerIndex,
    host: "10.0.0.1",
    port: 1,
    pid: 7,
    finishedSteps: 0,
  });
  const states = (roster: WorkerRoster, step: number) =>
    roster.at(step).map(({ memberId, state, step: at }) => `${memberId} ${state} ${at}`);

  it("tells those that train from those that were lost and those that left", () => {
    const roster = new WorkerRoster();
    roster.begin({ members: [member("a", 0), member("b", 1), member("c", 2)] }, 0);
    expect(states(roster, 5)).toEqual(["a training 5", "b training 5", "c training 5"]);
    roster.loseRank(1);
    roster.begin({ members: [member("a", 0), member("c", 1, 2)] }, 5);
    expect(states(roster, 6)).toEqual(["a training 6", "c training 6", "b lost 0"]);
    roster.begin({ members: [member("a", 0)] }, 6);
    expect(states(roster, 7)).toEqual(["a training 7", "b lost 0", "c left 5"]);
  });

  it("forgets a worker that another attempt has replaced", () => {
    const roster = new WorkerRoster();
    roster.begin({ members: [member("a/1", 0), member("b/1", 1)] }, 0);
    roster.begin({ members: [member("a/1", 0)] }, 3);
    roster.begin({ members: [member("a/1", 0), member("b/2", 1)] }, 4);
    expect(states(roster, 4)).toEqual(["a/1 training 4", "b/2 training 4"]);
  });
});

describe("systemMetrics", () => {
  it("reads shares of the time between two readings", () => {
    const reading = (at: number, cpuMicroseconds: number, rssBytes: number, finishedSteps: number) => ({
      ...{ at, cpuMicroseconds, rssBytes, finishedSteps, samplesPerSecond: finishedSteps, dataWaitMs: at / 4 },
      communicationMs: at / 10,
    });
    const [before, after] = [reading(0, 0, 1, 10), reading(2_000, 3e6, 5, 30)];
    expect(systemMetrics(before, after)).toEqual({
      cpu: 1.5,
      rss: 5,
      "samples-per-second": 30,
      "data-wait-share": 0.25,
      "communication-share": 0.1,
    });
  });
});
