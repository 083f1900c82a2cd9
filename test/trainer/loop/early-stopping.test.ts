import fc from "fast-check";
import type { EarlyStopping } from "../../../core/runs/early-stopping";
import {
  createBestEpoch,
  findBest,
  recordEpoch,
  requireStoppingMetric,
} from "../../../trainer-container/loop/best-epoch";
import type { ScoreLayout } from "../../../trainer-container/loop/score";
import { FakeGang } from "./fake-gang";
import { createWorker, digest, run, taskOf, trainTogether, type Worker } from "./in-process";

const stepsPerEpoch = 4;
const names = ["a", "b", "c"];
const rule: EarlyStopping = { metric: "validation/loss", patience: 2, minDelta: 0.002 };
const epochs = 30;
const task = (earlyStopping: EarlyStopping | null = rule) =>
  taskOf(earlyStopping ? { earlyStopping } : {}, { learningRate: 0.8, epochs });

interface Trained {
  readonly worker: Worker;
  readonly weights: readonly Float32Array[];
  readonly end: Awaited<ReturnType<typeof run>>;
}

async function trainAlone(given = task()): Promise<Trained> {
  const weights: Float32Array[] = [];
  const worker = createWorker(new FakeGang(6, ["a"]).member("a"), given, undefined, {
    boundary: (replica) => {
      if (replica.finishedSteps % stepsPerEpoch === 0) weights.push(replica.weights.slice());
    },
  });
  return { worker, end: await run(worker), weights };
}

describe("early stopping in the training loop", () => {
  let whole: Trained;
  let stopped: Trained;
  beforeAll(async () => {
    whole = await trainAlone(task(null));
    stopped = await trainAlone();
  });

  it("stops after `patience` epochs without an improvement, with the weights of the best epoch", async () => {
    const { end, worker } = stopped;
    const ran = worker.epochs.length;
    const best = ran - rule.patience;
    expect(ran).toBeLessThan(epochs);
    expect(best).toBeGreaterThan(1);
    expect(worker.replica.finishedSteps).toBe(ran * stepsPerEpoch);
    const { validation, train } = worker.epochs[best - 1]!;
    expect(end).toMatchObject({ end: "completed", finishedSteps: ran * stepsPerEpoch, validation, train });
    expect(end).toMatchObject({ best: { epoch: best, value: validation!.loss } });
    expect("best" in end && end.best?.weights).toEqual(whole.weights[best - 1]);
  });

  it("trains the same steps as a run without it until it stops", () => {
    expect(stopped.weights).toEqual(whole.weights.slice(0, stopped.weights.length));
    expect(whole.end).not.toHaveProperty("best");
    expect(whole.worker.epochs).toHaveLength(epochs);
  });

  it("returns the weights of the best epoch where patience does not run out", async () => {
    const { end, worker } = await trainAlone(task({ ...rule, minDelta: 0, patience: epochs }));
    const losses = worker.epochs.map(({ validation }) => validation!.loss);
    const best = losses.indexOf(Math.min(...losses)) + 1;
    expect(losses).toHaveLength(epochs);
    expect(end).toMatchObject({ end: "completed", best: { epoch: best, value: Math.min(...losses) } });
    expect("best" in end && end.best?.weights).toEqual(whole.weights[best - 1]);
  });

  it("stops instead of pausing where both are due, and pauses before", async () => {
    const last = stopped.worker.epochs.length;
    const pausing = (pauseAt: number) => trainAlone({ ...task(), pauseAt });
    expect((await pausing(last - 1)).end.end).toBe("paused");
    expect((await pausing(last)).end).toEqual({ ...stopped.end, ranksBefore: expect.any(Function) });
  });

  it("has the same end and state, to the bit, on up to three workers whichever are lost, whenever", async () => {
    const last = stopped.worker.replica.finishedSteps;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: last }), fc.nat(2), fc.nat(2)), { maxLength: 2 }),
        async (world, losses) => {
          const ids = names.slice(0, world);
          const gang = new FakeGang(6, ids);
          const doomed = gang.plan(ids, losses);
          const workers = Object.fromEntries(ids.map((id) => [id, createWorker(gang.member(id), task())]));
          const survivors = ids.filter((id) => !doomed.has(id));
          for (const end of await trainTogether(gang, workers, survivors))
            expect(end).toMatchObject({ end: "completed", best: "best" in stopped.end && stopped.end.best });
          for (const id of survivors) expect(digest(workers[id]!.replica)).toBe(digest(stopped.worker.replica));
        },
      ),
      { numRuns: 40, seed: 5 },
    );
  });

  it("brings a newcomer to the best epoch of the others", async () => {
    const gang = new FakeGang(6, ["a"]);
    const late: { worker?: Worker; end?: ReturnType<typeof run> } = {};
    const veteran = createWorker(gang.member("a"), task(), undefined, {
      stepFinished: ({ step }) => {
        if (step !== stopped.worker.replica.finishedSteps - 2) return;
        late.worker = createWorker(gang.join("b"), task());
        late.end = run(late.worker);
        void late.end.then(() => gang.kill("b"));
      },
    });
    await run(veteran);
    gang.kill("a");
    const end = await late.end!;
    expect(end).toMatchObject({ best: { epoch: stopped.worker.epochs.length - rule.patience } });
    expect(digest(late.worker!.replica)).toBe(digest(stopped.worker.replica));
  });
});

describe("the best epoch", () => {
  const layout: ScoreLayout = { metrics: ["recall"], length: 4 };
  const sums = (loss: number, correct = 0, recall = 0) => Float32Array.of(loss * 8, 8, correct * 8, recall * 8);

  function decide(given: EarlyStopping, values: readonly Float32Array[]) {
    const best = createBestEpoch({ parameterCount: 1 }, layout);
    const stops = values.map((validationSums, i) =>
      recordEpoch(best, given, layout, {
        epoch: i + 1,
        trainSums: new Float64Array(layout.length),
        validationSums,
        weights: Float32Array.of(i + 1),
      }),
    );
    const found = findBest(best, given, layout);
    return { stops, epoch: found?.epoch, value: found?.value, weights: found && [...found.weights] };
  }

  it.each<[name: string, changes: Partial<EarlyStopping>, values: readonly Float32Array[], epoch: number]>([
    ["the lowest loss", {}, [sums(2), sums(1), sums(1.5)], 2],
    ["the best accuracy", { metric: "validation/accuracy" }, [sums(1, 0.5, 0), sums(1, 0.75, 0), sums(1, 0.25, 0)], 2],
    ["the earliest of equals", {}, [sums(1), sums(1), sums(1)], 1],
    ["the last improvement by more than minDelta", { minDelta: 0.5 }, [sums(2), sums(1.5), sums(1.25)], 3],
    [
      "a given direction",
      { metric: "validation/recall", direction: "minimize" },
      [sums(1, 0, 0.5), sums(1, 0, 0.25)],
      2,
    ],
    ["an epoch with a number", {}, [sums(Number.NaN), sums(3), sums(Number.NaN)], 2],
  ])("is %s", (_, changes, values, epoch) => {
    expect(decide({ ...rule, minDelta: 0, ...changes }, values)).toMatchObject({ epoch, weights: [epoch] });
  });

  it("stops `patience` epochs after it, and does not when an end of an epoch is repeated", () => {
    const values = [sums(2), sums(1), sums(1), sums(3)];
    expect(decide({ ...rule, minDelta: 0 }, values).stops).toEqual([false, false, false, true]);
    const best = createBestEpoch({ parameterCount: 1 }, layout);
    const end = { epoch: 1, trainSums: new Float64Array(4), validationSums: values[0]!, weights: Float32Array.of(1) };
    for (let i = 0; i < 3; i += 1) expect(recordEpoch(best, { ...rule, patience: 1 }, layout, end)).toBe(false);
  });

  it.each([
    [
      "validation/auc",
      undefined,
      "must be a metric that the model's validation records: validation/loss, validation/accuracy, validation/cost",
    ],
    ["validation/cost", undefined, "earlyStopping.direction is required (minimize or maximize)"],
    ["validation/cost", "minimize", undefined],
    ["validation/loss", undefined, undefined],
  ] as const)("of %s, direction %s: the trainer says %s", (metric, direction, message) => {
    const given = { ...rule, metric, ...(direction ? { direction } : {}) };
    const check = (count: number) => requireStoppingMetric(given, { metrics: ["cost"], length: 4 }, { count }, true);
    if (message) expect(() => check(1)).toThrow(message);
    else expect(() => check(1)).not.toThrow();
    if (!message) expect(() => check(0)).toThrow("needs a validation split with rows");
  });
});
