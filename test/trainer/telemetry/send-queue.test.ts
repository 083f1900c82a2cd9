import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type MetricBatch, MetricsRefusedError } from "../../../core/tracking/metric-store";
import { SendQueue } from "../../../trainer-container/telemetry/send-queue";

const batch = (step: number): MetricBatch => ({
  runId: "run-1",
  series: [{ metric: "train/loss", steps: [step], values: [step / 2], times: [0] }],
});
const stepOf = (sent: MetricBatch) => sent.series[0]!.steps[0]!;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("SendQueue", () => {
  let directory: string;
  let received: number[];
  let away: boolean;
  let pauses: number[];
  let troubles: string[];
  let refused: string[];
  let refuse: number | undefined;
  let queue: SendQueue;
  let observe: (sent: MetricBatch) => void;

  beforeEach(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), "send-queue-"));
    [received, pauses, troubles, refused] = [[], [], [], []];
    [away, refuse] = [false, undefined];
    observe = () => undefined;
    queue = new SendQueue({
      sink: {
        async send(sent) {
          await turn();
          if (away) throw new Error("away");
          if (stepOf(sent) === refuse) throw new MetricsRefusedError("no such run");
          received.push(stepOf(sent));
          observe(sent);
        },
      },
      directory,
      onRefused: (error) => refused.push(error.message),
      onTrouble: (message) => troubles.push(message),
      random: () => 0.5,
      sleep: async (ms) => {
        pauses.push(ms);
        for (let i = 0; i < 3; i += 1) await turn();
      },
    });
  });

  afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

  const settle = async () => {
    while (queue.length > 0) await turn();
  };

  it("tells of each batch when it is stored, and not before", async () => {
    await queue.post(batch(1));
    expect(received).toEqual([1]);
    away = true;
    const stored: number[] = [];
    for (let step = 2; step <= 40; step += 1) void queue.post(batch(step)).then(() => stored.push(step)); // memory and disk
    while (pauses.length < 3) await turn();
    expect(stored).toEqual([]);
    away = false;
    await settle();
    await turn();
    expect(stored).toEqual(received.slice(1));
  });

  it("tells of a batch that is refused, or lost on disk, as of one that is gone", async () => {
    refuse = 1;
    await queue.post(batch(1));
    expect(refused).toEqual([expect.stringContaining("no such run")]);
    away = true;
    const ends = Array.from({ length: 40 }, (_, index) => queue.post(batch(index + 2)));
    while (!fs.existsSync(path.join(directory, "7.batch"))) await turn();
    fs.rmSync(path.join(directory, "3.batch"));
    away = false;
    await Promise.all(ends);
    expect(received).toHaveLength(39);
  });

  it("keeps what memory does not hold on disk while the sink is away, and catches up in order", async () => {
    away = true;
    for (let step = 1; step <= 100; step += 1) void queue.post(batch(step));
    while (fs.readdirSync(directory).length < 60) await turn();
    while (pauses.length < 4) await turn();
    expect(received).toEqual([]);
    expect(troubles).toEqual(["metrics cannot be sent; they wait"]);
    away = false;
    void queue.post(batch(101));
    await settle();
    expect(received).toEqual(Array.from({ length: 101 }, (_, i) => i + 1));
    expect(fs.readdirSync(directory)).toEqual([]);
  });

  it("keeps NaN and infinities of batches that wait on disk", async () => {
    away = true;
    const sent: (readonly number[])[] = [];
    const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let step = 1; step <= 32; step += 1) void queue.post(batch(step));
    observe = ({ series }) => sent.push(series[0]!.values);
    void queue.post({
      runId: "run-1",
      series: [{ metric: "train/loss", steps: [33, 34, 35], values, times: [0, 0, 0] }],
    });
    while (fs.readdirSync(directory).length < 1) await turn();
    away = false;
    await settle();
    expect(sent.at(-1)).toEqual(values);
  });

  it("waits longer and longer, up to a bound", async () => {
    away = true;
    void queue.post(batch(1));
    while (pauses.length < 8) await turn();
    // The random number is 0.5: three quarters of the bound.
    expect(pauses.slice(0, 8)).toEqual([375, 750, 1_500, 3_000, 6_000, 11_250, 11_250, 11_250]);
    away = false;
    await settle();
  });

  it("gives up at the end after its patience, leaving nothing behind", async () => {
    away = true;
    for (let step = 1; step <= 40; step += 1) void queue.post(batch(step));
    await queue.close(10);
    expect(fs.existsSync(directory)).toBe(false);
  });
});
