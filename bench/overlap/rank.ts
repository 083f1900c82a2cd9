/** One rank: computes a backward pass of a given length, and sums its leaf with the others, overlapped or afterwards. */
import { createInterface } from "node:readline";
import { Collective } from "../../trainer-container/collective/collective";
import { Listener } from "../../trainer-container/collective/listener";
import { allocateSum, releaseSum } from "../../trainer-container/collective/sum-memory";
import { runChild, say } from "../support/child";
import { openMesh } from "../support/mesh";
import type { Measured, Start, Task } from "./protocol";

/** Number of parts in which gradients become final, like the layers of a model. */
const layers = 16;

/** Blocks the thread like a backward pass. */
function backward(
  leaf: Float32Array,
  value: number,
  { backwardMs }: Task,
  ready: (start: number, end: number) => void,
) {
  const startedAt = performance.now();
  for (let layer = layers - 1; layer >= 0; layer--) {
    const start = Math.floor((layer * leaf.length) / layers);
    const end = Math.floor(((layer + 1) * leaf.length) / layers);
    leaf.fill(value, start, end);
    const until = startedAt + (backwardMs * (layers - layer)) / layers;
    while (performance.now() < until);
    ready(start, end);
  }
}

async function measure(collective: Collective, task: Task): Promise<Measured> {
  const { rank } = collective.mesh.options;
  const leaf = allocateSum(task.elements);
  const out = allocateSum(task.elements);
  const exposedMs: number[] = [];
  const stepMs: number[] = [];
  const input = { local: [leaf], out, signals: 0, finishedSteps: 0 };
  for (let i = 0; i < task.warmUps + task.iterations; i++) {
    const startedAt = performance.now();
    const sum = task.overlap ? collective.beginAllReduce(input) : undefined;
    backward(leaf, rank + 1, task, (start, end) => sum?.ready(start, end));
    const computedAt = performance.now();
    await (sum ? sum.finish() : collective.allReduce(input));
    const summedAt = performance.now();
    if (i < task.warmUps) continue;
    exposedMs.push(summedAt - computedAt);
    stepMs.push(summedAt - startedAt);
  }
  const expected = (collective.plan.worldSize * (collective.plan.worldSize + 1)) / 2;
  if (!out.every((value) => value === expected)) throw new Error("the sum is wrong");
  releaseSum(leaf);
  releaseSum(out);
  return { exposedMs, stepMs };
}

async function main(): Promise<void> {
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 10_000 });
  say({ port: listener.port });
  let collective: Collective | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    if (collective) {
      say(await measure(collective, JSON.parse(line) as Task));
    } else {
      const { rank, ports } = JSON.parse(line) as Start;
      const members = ports.map((port) => ({ port }));
      collective = new Collective(await openMesh(listener, rank, members));
      say({ ready: true });
    }
  }
}

runChild(main);
