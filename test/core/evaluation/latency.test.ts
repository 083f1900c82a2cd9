import { latencyRows, type Machine, measureLatency } from "../../../core/evaluation/latency";

const machine: Machine = {
  ...{ cpu: "test", processors: 2, memoryMb: 1_024, host: "local", node: "v20", platform: "linux", arch: "x64" },
};
const rows = [Float32Array.from([1]), Float32Array.from([2])];

/** A model whose predictions take the given times, one after the other; the clock goes by nothing else. */
function bench(times: (call: number) => number) {
  let now = 0;
  let calls = 0;
  const seen: number[] = [];
  return {
    seen,
    predictor: {
      predict(inputs: Float32Array, count: number) {
        expect(count).toBe(1);
        seen.push(inputs[0]!);
        now += times(calls);
        calls += 1;
        return inputs;
      },
    },
    stopwatch: { now: () => now, machine },
  };
}

describe("measureLatency", () => {
  it("leaves out a burst of other work: percentiles are medians of five rounds", () => {
    // The last 20 of the first 200 predictions waited for a processor, so they are the p99 of all.
    const { predictor, stopwatch } = bench((call) => (call >= 230 && call < 250 ? 27.7 : 0.06));
    const report = measureLatency(predictor, rows, stopwatch)!;
    expect([report.p50Ms, report.p99Ms, report.maxMs]).toEqual([0.06, 0.06, 27.7]);
    expect(report.histogram.at(-1)!.count).toBe(20);
  });

  it("times 1,000 predictions after a warm-up of 50 that is not counted", () => {
    // The warm-up is slow; then 1, 2, … 1,000 thousandths of a millisecond, in five rounds with every fifth of them.
    const nth = (index: number) => 5 * (index % 200) + Math.floor(index / 200) + 1;
    const { predictor, stopwatch, seen } = bench((call) => (call < 50 ? 10 : nth(call - 50) / 1_000));
    const report = measureLatency(predictor, rows, stopwatch)!;
    expect(report).toMatchObject({ predictions: 1_000, warmUp: 50, machine });
    expect([report.p50Ms, report.p90Ms, report.p99Ms, report.maxMs]).toEqual([0.498, 0.898, 0.988, 1]);
    expect(seen.slice(0, 4)).toEqual([1, 2, 1, 2]);
    expect(report.histogram).toHaveLength(24);
    expect(report.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
    expect(report.histogram[0]!.fromMs).toBe(0.001);
    expect(report.histogram.at(-1)!.toMs).toBe(1);
  });

  it("measures a slow model less often, but a hundred times", () => {
    const { predictor, stopwatch } = bench(() => 100);
    expect(measureLatency(predictor, rows, stopwatch)).toMatchObject({ predictions: 100, warmUp: 30, p99Ms: 100 });
    const faster = bench(() => 10);
    expect(measureLatency(faster.predictor, rows, faster.stopwatch)).toMatchObject({ predictions: 300, warmUp: 50 });
  });

  it("has one bin where all times are the same, and none to tell without rows", () => {
    const { predictor, stopwatch } = bench(() => 2);
    expect(measureLatency(predictor, rows, stopwatch)!.histogram).toEqual([{ fromMs: 2, toMs: 2, count: 1_000 }]);
    expect(measureLatency(predictor, rows, stopwatch, 200)).toMatchObject({ predictions: 200 });
    expect(measureLatency(predictor, [], stopwatch)).toBeUndefined();
  });
});

it("takes the first rows of the split", async () => {
  const view = (from: number) => ({
    rows: 100,
    writeRow: (row: number, to: Float32Array, at: number) => to.set([from + row], at),
  });
  async function* shards() {
    yield view(0) as never;
    throw new Error("the first shard is enough");
  }
  const found = await latencyRows(shards(), 1);
  expect(found).toHaveLength(64);
  expect(found[63]![0]).toBe(63);
});
