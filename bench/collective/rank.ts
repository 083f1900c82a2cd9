/** One rank of our own all-reduce, wired like the trainer: a process, a listener, a mesh, a heartbeat thread. */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { Collective } from "../../trainer-container/collective/collective";
import { Listener } from "../../trainer-container/collective/listener";
import { allocateSum, releaseSum } from "../../trainer-container/kernels/sum-memory";
import { runChild, say } from "../support/child";
import { openMesh } from "../support/mesh";
import type { Measured, RankAddress, Task } from "./protocol";

interface Start {
  readonly rank: number;
  readonly members: readonly RankAddress[];
}

async function measure(collective: Collective, task: Task): Promise<Measured> {
  const { mesh } = collective;
  const { rank } = mesh.options;
  const local = [allocateSum(task.elements).fill(rank + 1)];
  const out = allocateSum(task.elements);
  const reduce = () => collective.allReduce({ local, out, signals: 0, finishedSteps: 0 });
  await reduce();
  const expected = (mesh.worldSize * (mesh.worldSize + 1)) / 2;
  if (!out.every((value) => value === expected)) throw new Error("the sum is wrong");
  local[0]!.fill(0);
  for (let i = 0; i < task.warmUps; i++) await reduce();
  const before = mesh.bytesSent;
  const cpuBefore = process.cpuUsage();
  const micros: number[] = [];
  for (let i = 0; i < task.iterations; i++) {
    const start = performance.now();
    await reduce();
    micros.push((performance.now() - start) * 1_000);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  for (const buffer of [...local, out]) releaseSum(buffer);
  return {
    micros,
    cpuMicros: (user + system) / task.iterations,
    bytes: (mesh.bytesSent - before) / task.iterations,
  };
}

async function main(): Promise<void> {
  const incarnation = randomUUID();
  const listener = await Listener.start({ host: "127.0.0.1", patienceMs: 10_000, incarnation });
  say({ port: listener.port, incarnation });
  let collective: Collective | undefined;
  for await (const line of createInterface({ input: process.stdin })) {
    if (collective) {
      say(await measure(collective, JSON.parse(line) as Task));
    } else {
      const { rank, members } = JSON.parse(line) as Start;
      collective = new Collective(await openMesh(listener, rank, members));
      say({ ready: true });
    }
  }
}

runChild(main);
