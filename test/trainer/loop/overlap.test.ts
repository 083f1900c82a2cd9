import type { Gang, Generation } from "../../../trainer-container/gang/gang";
import { FakeGang } from "./fake-gang";
import { createWorker, digest, run } from "./in-process";

interface Reported {
  readonly leaf: Float32Array;
  readonly start: number;
  readonly values: Float32Array;
}

/** Sums as the gang does, after a look at whether the leaves are what they were when they were said to be final. */
function overlapping(gang: Gang, seen: { begun: number; finalElements: number }): Gang {
  const begin =
    (generation: Generation): Generation["beginAllReduce"] =>
    (local, out, signals, finishedSteps) => {
      seen.begun += 1;
      const reported: Reported[] = [];
      return {
        ready(start, end) {
          for (const leaf of local) reported.push({ leaf, start, values: leaf.slice(start, end) });
        },
        finish() {
          for (const { leaf, start, values } of reported) {
            expect(leaf.subarray(start, start + values.length)).toEqual(values);
            seen.finalElements += values.length;
          }
          return generation.allReduce(local, out, signals, finishedSteps);
        },
      };
    };
  return {
    memberId: gang.memberId,
    leave: (reason) => gang.leave(reason),
    enter: async (finishedSteps) => {
      const generation = await gang.enter(finishedSteps);
      const { traffic: _, lost: __, ...rest } = generation;
      return Object.defineProperties({ ...rest, beginAllReduce: begin(generation) } as unknown as Generation, {
        traffic: { get: () => generation.traffic },
        lost: { get: () => generation.lost },
      });
    },
  };
}

describe("a training that overlaps sums with backward passes", () => {
  it.each([1, 2, 3])("gives the same state to the bit on %i workers, and says only what stays", async (world) => {
    const alone = createWorker(new FakeGang(6, ["a"]).member("a"));
    await run(alone);
    const names = ["a", "b", "c"].slice(0, world);
    const gang = new FakeGang(6, names);
    const seen = { begun: 0, finalElements: 0 };
    const workers = names.map((name) => createWorker(overlapping(gang.member(name), seen)));
    await Promise.all(workers.map(run));
    for (const worker of workers) expect(digest(worker.replica)).toBe(digest(alone.replica));
    // Twelve steps; each leaf's kernel [4, 3] and bias [3], of six leaves a step.
    expect(seen).toEqual({ begun: 12 * world, finalElements: 12 * 6 * 15 });
  });
});
