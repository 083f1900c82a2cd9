import type { GradientFormat } from "../../../core/training/narrow-format";
import {
  goodStepsToDouble,
  initialLossScale,
  type LossScale,
  maxLossScale,
  minLossScale,
  nextLossScale,
} from "../../../trainer-container/loop/replica";
import { FakeGang } from "./fake-gang";
import { classes, createWorker, digest, features, run, taskOf, type Worker } from "./in-process";
import { linearModel } from "./linear-model";

type OnGradient = Parameters<typeof linearModel>[2];

/** The names of members; a lost member is lost at the given step. */
async function trainOn(
  members: readonly string[],
  format: GradientFormat,
  {
    onGradient,
    epochs = 3,
    lose,
  }: { onGradient?: OnGradient; epochs?: number; lose?: { at: number; id: string } } = {},
): Promise<readonly Worker[]> {
  const task = taskOf({}, { gradientFormat: format, epochs });
  const gang = new FakeGang(task.microBatches, members);
  if (lose) gang.faults.set(lose.at, { kill: lose.id });
  const workers = members.map((id) => createWorker(gang.member(id), task, linearModel(features, classes, onGradient)));
  const survivors = workers.filter((_, i) => members[i] !== lose?.id);
  const ends = workers.map((worker, i) => run(worker).then(() => gang.kill(members[i]!)));
  await Promise.all(ends.filter((_, i) => members[i] !== lose?.id));
  return survivors;
}

const worlds = [["a"], ["a", "b"], ["a", "b", "c"]];

describe.each(["float32", "bfloat16", "float16"] as const)("training with %s gradients", (format) => {
  it("gives the same state to the bit on 1, 2 and 3 workers, and when one is lost", async () => {
    const [reference] = await trainOn(["a"], format);
    for (const members of worlds) {
      for (const worker of await trainOn(members, format)) {
        expect(digest(worker.replica)).toBe(digest(reference!.replica));
        expect(worker.outcomes).toEqual(reference!.outcomes);
      }
    }
    for (const worker of await trainOn(["a", "b", "c"], format, { lose: { at: 5, id: "b" } })) {
      expect(digest(worker.replica)).toBe(digest(reference!.replica));
    }
  });

  it("learns what float32 learns, and counts the same rows", async () => {
    const [narrow] = await trainOn(["a"], format);
    const [wide] = await trainOn(["a"], "float32");
    expect(narrow!.epochs.at(-1)!.train.weight).toBe(96);
    expect(narrow!.epochs.at(-1)!.train.loss).toBeCloseTo(wide!.epochs.at(-1)!.train.loss, 2);
    expect(digest(narrow!.replica) === digest(wide!.replica)).toBe(format === "float32");
  });
});

describe("the loss scale of float16", () => {
  /** Gradients of the fourth step overflow once they are scaled by 1,024. */
  const spike: OnGradient = (key, gradient) => {
    if (key.includes("step 3 ")) for (let i = 0; i < gradient.length; i++) gradient[i]! *= 1_000;
  };

  it("skips a step that overflowed on every rank, and goes on with half the scale", async () => {
    const [alone] = await trainOn(["a"], "float16", { onGradient: spike });
    const { outcomes, replica } = alone!;
    expect(outcomes.map(({ lossScale }) => lossScale)).toEqual([...Array(4).fill(1_024), ...Array(8).fill(512)]);
    expect(outcomes.filter(({ skipped }) => skipped).map(({ step }) => step)).toEqual([4]);
    expect(replica.finishedSteps).toBe(12);
    expect(replica.lossScale).toEqual({ scale: 512, goodSteps: 8, skipped: 1 });
    for (const members of worlds) {
      for (const worker of await trainOn(members, "float16", { onGradient: spike })) {
        expect(digest(worker.replica)).toBe(digest(replica));
      }
    }
    const lost = { at: 6, id: "a" };
    for (const worker of await trainOn(["a", "b"], "float16", { onGradient: spike, lose: lost })) {
      expect(digest(worker.replica)).toBe(digest(replica));
    }
  });

  it("changes nothing in a skipped step", async () => {
    const taken: Float32Array[] = [];
    const task = taskOf({}, { gradientFormat: "float16" });
    const worker: Worker = createWorker(
      new FakeGang(6, ["a"]).member("a"),
      task,
      linearModel(features, classes, spike),
      { boundary: (replica) => taken.push(...[replica.weights, replica.slots["v"]!].map((x) => x.slice())) },
    );
    await run(worker);
    // Steps 3 and 4: weights (the statistic included) and a slot.
    expect(taken[6]).toEqual(taken[4]);
    expect(taken[7]).toEqual(taken[5]);
    expect(taken[8]).not.toEqual(taken[6]);
  });

  it("goes to a joining member, and back to its beginning with the replica", async () => {
    const [worker] = await trainOn(["a"], "float16", { onGradient: spike });
    const { replica } = worker!;
    const other = createWorker(new FakeGang(6, ["a"]).member("a"), taskOf({}, { gradientFormat: "float16" })).replica;
    replica.buffers.forEach((buffer, i) => {
      other.buffers[i]!.set(buffer);
    });
    expect(other.lossScale).toEqual({ scale: 512, goodSteps: 8, skipped: 1 });
    other.reset();
    expect(other.lossScale).toEqual({ scale: 1_024, goodSteps: 0, skipped: 0 });
  });

  it("halts, naming the step, where no scale helps", async () => {
    const broken: OnGradient = (key, gradient) => {
      if (!/step [01] /.test(key)) gradient[0] = Number.POSITIVE_INFINITY;
    };
    // 2 good steps, 26 that halve 2^10 down to 2^-16, and one more.
    await expect(trainOn(["a"], "float16", { onGradient: broken, epochs: 10 })).rejects.toMatchObject({
      code: "NON_FINITE_GRADIENT",
      step: 28,
    });
  });

  it.each(["float32", "bfloat16"] as const)("is not for %s: there the step halts the run", async (format) => {
    const broken: OnGradient = (key, gradient) => {
      if (key.includes("step 3 ")) gradient[0] = Number.NaN;
    };
    await expect(trainOn(["a"], format, { onGradient: broken })).rejects.toMatchObject({
      code: "NON_FINITE_GRADIENT",
      step: 3,
    });
  });
});

describe("the loss scale", () => {
  it("halves with each step that overflowed, and counts it", () => {
    const once = nextLossScale({ scale: 1024, goodSteps: 17, skipped: 2 }, false);
    expect(once).toEqual({ scale: 512, goodSteps: 0, skipped: 3 });
    expect(nextLossScale(once!, false)).toEqual({ scale: 256, goodSteps: 0, skipped: 4 });
  });

  it("doubles after so many good steps in a row", () => {
    let state: LossScale | undefined = initialLossScale;
    for (let step = 1; step < goodStepsToDouble; step++) state = nextLossScale(state!, true);
    expect(state).toEqual({ ...initialLossScale, goodSteps: goodStepsToDouble - 1 });
    expect(nextLossScale(state!, true)).toEqual({ ...initialLossScale, scale: initialLossScale.scale * 2 });
  });

  it("stays within its bounds, and gives up where the least does not help", () => {
    const atTop = { scale: maxLossScale, goodSteps: goodStepsToDouble - 1, skipped: 0 };
    expect(nextLossScale(atTop, true)?.scale).toBe(maxLossScale);
    const above = { scale: minLossScale * 2, goodSteps: 0, skipped: 0 };
    expect(nextLossScale(above, false)?.scale).toBe(minLossScale);
    expect(nextLossScale({ ...above, scale: minLossScale }, false)).toBeUndefined();
  });
});
