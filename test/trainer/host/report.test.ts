import type { TrainingProgress } from "../../../core/runs/progress";
import type { RecoveryRecord } from "../../../core/runs/shapes";
import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { Reporter, type ReporterOptions } from "../../../trainer-container/host/report";
import { noTelemetry } from "../../../trainer-container/telemetry/telemetry";

const reporterOf = (options: object) =>
  new Reporter({
    plan: { batchSize: 8, totalSteps: 100, epochs: 1, sampler: { stepsPerEpoch: 100 } },
    workerIndex: 0,
    backend: "wasm",
    telemetry: noTelemetry,
    logger: { log: () => undefined },
    clock: { now: () => 0 },
    now: () => 0,
    leaves: { dataWaitMs: () => 0 },
    ...options,
  } as unknown as ReporterOptions);

const finish = (events: Reporter, step: number, score: object = { loss: 1, metrics: {} }) => {
  const outcome = { step, score, skipped: false, gradientNorm: 1, learningRate: 1 };
  events.stepFinished(outcome as unknown as Parameters<Reporter["stepFinished"]>[0]);
};

/** @param finishedSteps of the members, by rank */
function startGeneration(events: Reporter, number: number, rank: number, finishedSteps: readonly number[]): void {
  const members = finishedSteps.map((steps, at) => ({
    ...{ memberId: `m${at}`, rank: at, workerIndex: at, finishedSteps: steps },
  }));
  const generation = { number, traffic: { waitMs: 0 }, rank, worldSize: members.length, members };
  events.generationStarted(
    generation as unknown as Parameters<Reporter["generationStarted"]>[0],
    Math.max(...finishedSteps),
  );
}

/** The reports of one worker. Its clock moves one second each time that it is read for a step. */
function worker() {
  const reported: RecoveryRecord[] = [];
  let ms = 0;
  const events = reporterOf({
    telemetry: { ...noTelemetry, recovered: (one: RecoveryRecord) => void reported.push(one) },
    clock: { now: () => ms },
    now: () => ms,
  });
  events.close();
  const begin = (number: number, rank: number, finishedSteps: readonly number[]) =>
    startGeneration(events, number, rank, finishedSteps);
  const step = (at: number) => {
    ms += 1_000;
    finish(events, at);
  };
  return {
    reported,
    begin,
    step,
    lose: (g: number, at: number) => events.generationLost(new GenerationLostError(g, 0, "x"), at),
  };
}

describe("the report of a recovery", () => {
  it("comes from a survivor where rank 0 is the process that replaces the lost one", () => {
    const survivor = worker();
    survivor.begin(1, 1, [0, 0]);
    survivor.step(5);
    survivor.lose(1, 5);
    survivor.begin(2, 1, [0, 5]);
    survivor.step(6);
    survivor.step(7);
    expect(survivor.reported).toEqual([{ generation: 2, step: 5, seconds: 1 }]);

    const replacement = worker();
    replacement.begin(2, 0, [0, 5]);
    replacement.step(6);
    expect(replacement.reported).toEqual([]);
  });

  it("comes from few of many survivors", () => {
    const reported = Array.from({ length: 50 }, (_, rank) => {
      const one = worker();
      one.begin(1, rank, Array(51).fill(0));
      one.lose(1, 3);
      one.begin(2, rank, Array(50).fill(3));
      one.step(4);
      return one.reported.length;
    });
    expect([reported[0], reported.reduce((a, b) => a + b)]).toEqual([1, 4]);
  });

  it.each([
    ["the only worker was replaced before its first checkpoint", 2, 0, [0], 1],
    ["all workers were restored from a checkpoint", 2, 0, [10, 10], 1],
    ["the only worker begins", 1, 0, [0], 0],
    ["another rank reports it", 2, 1, [10, 10], 0],
    ["a worker joins those that train", 2, 0, [0, 10], 0],
  ])("without a time where nobody survived to measure it: %s", (_case, generation, rank, steps, reports) => {
    const one = worker();
    one.begin(generation, rank, steps);
    one.step(11);
    const step = Math.max(...steps);
    expect(one.reported).toEqual(reports === 0 ? [] : [{ generation, step }]);
  });
});

describe("the report of a GPU", () => {
  it("has its utilization and memory at the step of the sample", () => {
    const points: unknown[] = [];
    let closed = 0;
    const events = reporterOf({
      workerIndex: 2,
      telemetry: { ...noTelemetry, own: (...point: unknown[]) => void points.push(point) },
      gpu: {
        read: () => ({ utilization: 0.75, memoryBytes: 1_024 }),
        close: () => {
          closed += 1;
        },
      },
    });
    finish(events, 7);
    events.close();
    expect(points).toEqual(
      expect.arrayContaining([
        ["system/worker-2/gpu-utilization", 7, 0.75],
        ["system/worker-2/gpu-memory", 7, 1_024],
      ]),
    );
    expect(closed).toBe(1);
  });
});

it("warns once of a metric without a finite value in any step of an epoch", () => {
  const warn = jest.fn();
  const plan = { batchSize: 8, totalSteps: 100, epochs: 2, sampler: { stepsPerEpoch: 2 } };
  const events = reporterOf({ plan, warn });
  events.close();
  const scoreOf = (some: number) => ({ loss: 1, weight: 8, metrics: { never: Number.NaN, some, always: 1 } });
  for (const step of [2, 4]) {
    finish(events, step - 1, scoreOf(3));
    finish(events, step, scoreOf(Number.NaN));
    events.epochFinished(step / 2 - 1, step, scoreOf(Number.NaN), undefined);
  }
  expect(warn.mock.calls).toEqual([
    [
      "METRIC_NOT_FINITE",
      expect.stringMatching(/^the metric 'never' of .* no finite value .*epoch 1, .*division by 0/),
    ],
  ]);
});

describe("the rate", () => {
  /** Reports of a worker whose clock the test sets: `[ms, samples/s]` of each report, and what else shows the rate. */
  function timedWorker(finishedSteps: number) {
    const batchSize = 32;
    let [ms, step] = [0, finishedSteps];
    let read: (() => TrainingProgress) | undefined;
    const [points, logged]: [Map<string, number>, unknown[]] = [new Map(), []];
    const events = reporterOf({
      plan: { batchSize, totalSteps: 10_000, epochs: 10, sampler: { stepsPerEpoch: 1_000 } },
      workerIndex: 1,
      telemetry: {
        ...noTelemetry,
        own: (name: string, _step: number, value: number) => void points.set(name, value),
        progress: (current: () => TrainingProgress) => {
          read = current;
        },
      },
      logger: { log: (_level: string, _message: string, fields: object) => void logged.push(fields) },
      clock: { now: () => ms },
      now: () => ms,
    });
    const begin = (number: number, worldSize: number) =>
      startGeneration(events, number, 0, Array<number>(worldSize).fill(step));
    const train = (steps: number, msOf: (step: number) => number) => {
      for (let i = 0; i < steps; i += 1) {
        ms += msOf(step);
        step += 1;
        finish(events, step);
      }
    };
    return {
      ...{ begin, train, close: () => events.close(), batchSize, logged, points },
      pause: (pauseMs: number) => {
        ms += pauseMs;
      },
      validate: (pauseMs: number) => {
        ms += pauseMs;
        events.epochFinished(0, step, { loss: 1, weight: 1, metrics: {} }, { loss: 1, weight: 1, metrics: {} });
      },
      shown: () => read!().samplesPerSecond,
      now: () => ms,
      lose: () => events.generationLost(new GenerationLostError(1, 1, "lost"), step),
      rewind: (to: number) => {
        step = to;
      },
    };
  }
  const within5Percent = (rate: number, expected: number) => expect(Math.abs(rate / expected - 1)).toBeLessThan(0.05);

  it.each([
    ["even steps", 0, 1, () => 20, 0],
    ["uneven steps", 0, 1, (step: number) => [1, 2, 60, 3, 34][step % 5]!, 0],
    ["short epochs with a validation as long as their steps", 0, 1, () => 20, 400],
    ["several workers", 0, 4, () => 20, 100],
    ["a resumed run", 5_000, 2, () => 20, 100],
  ])("is rows by wall clock: %s", (_case, finishedSteps, workers, msOf, validationMs) => {
    const worker = timedWorker(finishedSteps);
    worker.begin(1, workers);
    worker.train(1, () => 900); // compiles
    const from = worker.now();
    for (let epoch = 1; epoch <= 100; epoch += 1) {
      worker.train(20, msOf);
      const seconds = (worker.now() - from) / 1_000;
      // A window may hold one validation more or less than its share: 0.4 of 30 s.
      if (epoch > 12 || validationMs === 0) within5Percent(worker.shown(), (epoch * 20 * worker.batchSize) / seconds);
      if (validationMs > 0) worker.validate(validationMs);
    }
  });

  it("forgets what is older than 30 s, and counts a pause between generations", () => {
    const worker = timedWorker(0);
    worker.begin(1, 2);
    worker.train(3_000, () => 10);
    within5Percent(worker.shown(), 3_200);
    worker.train(3_000, () => 20);
    within5Percent(worker.shown(), 1_600);
    worker.lose();
    worker.pause(10_000);
    worker.rewind(5_900);
    worker.begin(2, 1);
    worker.train(1_000, () => 20);
    within5Percent(worker.shown(), (1_000 * worker.batchSize) / 30);
  });

  it("is one number in the progress, the metric and the log", () => {
    const worker = timedWorker(0);
    worker.begin(1, 1);
    worker.train(1, () => 500);
    expect(worker.shown()).toBe(64); // 32 samples in 0.5 s: the first step counts until there is another
    worker.train(100, () => 40);
    worker.validate(200);
    worker.close();
    expect(worker.shown()).toBe(800);
    expect(worker.points.get("system/worker-1/samples-per-second")).toBe(800);
    expect(worker.logged).toContainEqual(expect.objectContaining({ epoch: 1, samplesPerSecond: 800 }));
  });
});
