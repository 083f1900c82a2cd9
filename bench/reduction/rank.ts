/** One rank that sums V leaves with others: in canonical order, in order of arrival, and small vectors as an extra round would. */
import { createInterface } from "node:readline";
import type { NarrowFormat } from "../../core/training/narrow-format";
import { Collective } from "../../trainer-container/collective/collective";
import { Listener } from "../../trainer-container/collective/listener";
import type { Mesh } from "../../trainer-container/collective/mesh";
import { allocateSum, releaseSum } from "../../trainer-container/collective/sum-memory";
import { createGradientWire } from "../../trainer-container/loop/gradient-wire";
import { runChild, say } from "../support/child";
import { openMesh } from "../support/mesh";
import { ArrivalOrder, leavesOf } from "./arrival-order";
import { type Contender, contenders } from "./contenders";
import { leafCount } from "./digits";

/** The chunk of the trainer's collective. */
const chunkElements = 64 * 1024;

export interface RankTask {
  readonly elements: number;
  readonly iterations: number;
  readonly contender: Contender;
}

/** Times of each iteration; the second is of the whole process. */
export interface RankMeasured {
  readonly micros: readonly number[];
  readonly cpuMicros: number;
}

interface Start {
  readonly rank: number;
  readonly ports: readonly number[];
}

interface Prepared {
  readonly elements: number;
  readonly reduce: Readonly<Record<Contender, () => Promise<void>>>;
  release(): void;
}

/** Prepares buffers of one size for all contenders, so that first touches of memory do not count. Sums are checked once. */
async function prepare(mesh: Mesh, collective: Collective, elements: number): Promise<Prepared> {
  const { rank } = mesh.options;
  const local = Array.from({ length: leavesOf(leafCount, mesh.worldSize, rank) }, () => allocateSum(elements));
  const out = allocateSum(elements);
  const arrival = new ArrivalOrder(mesh, local, out, chunkElements);
  const canonical = { signals: 0, finishedSteps: 0 };
  const [sum, ...packed] = [out, ...local].map(() => allocateSum(Math.ceil(elements / 2))) as [
    Float32Array,
    ...Float32Array[],
  ];
  const narrow = (format: NarrowFormat) => {
    const wire = createGradientWire(format, { trainableCount: elements, parameterCount: elements }, { length: 0 });
    return async () => {
      for (const [i, leaf] of local.entries()) wire.write(leaf, 1, packed[i] as Float32Array);
      const add = wire.add as NonNullable<typeof wire.add>;
      await collective.allReduce({ ...canonical, local: packed, out: sum, add });
      wire.read(sum, out);
    };
  };
  const reduce = {
    canonical: async () => {
      await collective.allReduce({ ...canonical, local, out });
    },
    arrival: () => arrival.run(),
    bfloat16: narrow("bfloat16"),
    float16: narrow("float16"),
  };
  for (const contender of contenders) {
    for (const leaf of local) leaf.fill(1);
    await reduce[contender]();
    if (!out.every((value) => value === leafCount)) throw new Error(`the sum is wrong: ${contender}`);
  }
  for (const leaf of local) leaf.fill(0);
  return {
    elements,
    reduce,
    release() {
      for (const buffer of [...local, out, sum, ...packed]) releaseSum(buffer);
      arrival.release();
    },
  };
}

async function measure({ reduce }: Prepared, { iterations, contender }: RankTask): Promise<RankMeasured> {
  await reduce[contender]();
  const micros: number[] = [];
  const cpu = process.cpuUsage();
  for (let i = 0; i < iterations; i++) {
    const start = performance.now();
    await reduce[contender]();
    micros.push((performance.now() - start) * 1_000);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { micros, cpuMicros: (user + system) / iterations };
}

async function main(): Promise<void> {
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 10_000 });
  say({ port: listener.port });
  let running: { readonly mesh: Mesh; readonly collective: Collective } | undefined;
  let prepared: Prepared | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    if (running) {
      const task = JSON.parse(line) as RankTask;
      if (prepared?.elements !== task.elements) {
        prepared?.release();
        prepared = await prepare(running.mesh, running.collective, task.elements);
      }
      say(await measure(prepared, task));
      continue;
    }
    const { rank, ports } = JSON.parse(line) as Start;
    const members = ports.map((port) => ({ port }));
    const mesh = await openMesh(listener, rank, members, { microshards: leafCount });
    running = { mesh, collective: new Collective(mesh, chunkElements) };
    say({ ready: true });
  }
}

runChild(main);
