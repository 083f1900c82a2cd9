/** One rank that sums V leaves with others: in the canonical order, in the order of arrival, and small vectors as an extra round would. */
import { createInterface } from "node:readline";
import { Collective } from "../../trainer-container/collective/collective";
import { Listener } from "../../trainer-container/collective/listener";
import { Mesh } from "../../trainer-container/collective/mesh";
import { ThreadPulse } from "../../trainer-container/collective/pulse";
import { allocateSum, releaseSum } from "../../trainer-container/collective/sum-memory";
import { defaultCollectiveTiming } from "../../trainer-container/collective/timing";
import { createGradientWire } from "../../trainer-container/loop/gradient-wire";
import { ArrivalOrder, leavesOf } from "./arrival-order";
import type { Contender } from "./contenders";
import { leafCount } from "./digits";

/** As the trainer's collective has it. */
const chunkElements = 64 * 1024;

export interface RankTask {
  readonly elements: number;
  readonly iterations: number;
  readonly contender: Contender;
}

/** Of each iteration; the second is of the whole process. */
export interface RankMeasured {
  readonly micros: readonly number[];
  readonly cpuMicros: number;
}

interface Start {
  readonly rank: number;
  readonly ports: readonly number[];
}

function say(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function measure(mesh: Mesh, collective: Collective, task: RankTask): Promise<RankMeasured> {
  const { elements, iterations, contender } = task;
  const { rank } = mesh.options;
  const local = Array.from({ length: leavesOf(leafCount, mesh.worldSize, rank) }, () => allocateSum(elements));
  const out = allocateSum(elements);
  const arrival = new ArrivalOrder(mesh, local, out, chunkElements);
  const wire =
    contender === "bfloat16" || contender === "float16"
      ? createGradientWire(contender, { trainableCount: elements, parameterCount: elements }, { length: 0 })
      : undefined;
  const packed = wire ? [...local, out].map(() => allocateSum(wire.words)) : [];
  const canonical = { signals: 0, finishedSteps: 0 };
  const reduce = async () => {
    if (contender === "arrival") await arrival.run();
    else if (wire?.add === undefined) await collective.allReduce({ ...canonical, local, out });
    else {
      const leaves = packed.slice(0, local.length);
      const sum = packed.at(-1) as Float32Array;
      for (const [i, leaf] of local.entries()) wire.write(leaf, 1, leaves[i] as Float32Array);
      await collective.allReduce({ ...canonical, local: leaves, out: sum, add: wire.add });
      wire.read(sum, out);
    }
  };
  for (const leaf of local) leaf.fill(1);
  await reduce();
  if (!out.every((value) => value === leafCount)) throw new Error(`the sum is wrong: ${contender}`);
  for (const leaf of local) leaf.fill(0);
  await reduce();
  const micros: number[] = [];
  const cpu = process.cpuUsage();
  for (let i = 0; i < iterations; i++) {
    const start = performance.now();
    await reduce();
    micros.push((performance.now() - start) * 1_000);
  }
  const { user, system } = process.cpuUsage(cpu);
  for (const buffer of [...local, out, ...packed]) releaseSum(buffer);
  arrival.release();
  return { micros, cpuMicros: (user + system) / iterations };
}

async function main(): Promise<void> {
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 10_000 });
  say({ port: listener.port });
  let running: { readonly mesh: Mesh; readonly collective: Collective } | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    if (running) {
      say(await measure(running.mesh, running.collective, JSON.parse(line) as RankTask));
      continue;
    }
    const { rank, ports } = JSON.parse(line) as Start;
    const mesh = await Mesh.open({
      gangId: "bench",
      generation: 1,
      token: "bench",
      rank,
      microshards: leafCount,
      members: ports.map((port) => ({ host: "127.0.0.1", port })),
      listener,
      pulse: new ThreadPulse(),
      timing: defaultCollectiveTiming,
      now: () => performance.now(),
    });
    running = { mesh, collective: new Collective(mesh, chunkElements) };
    say({ ready: true });
  }
  process.exit();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
