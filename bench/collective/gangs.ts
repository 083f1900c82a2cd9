import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineProcess } from "../support/line-process";
import { slowest } from "../support/median";
import type { PeerPython } from "../support/peer-python";
import type { Measured, Task } from "./protocol";

/** W processes that all-reduce together, one at a time with other gangs. */
export interface BenchGang {
  /** Microseconds of each all-reduce on its slowest rank, and bytes that each rank wrote to its sockets for one (ours only). */
  measure(task: Task): Promise<{ readonly micros: readonly number[]; readonly bytesByRank: readonly number[] }>;
  close(): void;
}

async function measureAll(ranks: readonly LineProcess[], task: Task) {
  for (const rank of ranks) rank.send(task);
  const replies = await Promise.all(ranks.map((rank) => rank.receive<Measured>()));
  return { micros: slowest(replies.map(({ micros }) => micros)), bytesByRank: replies.map(({ bytes }) => bytes ?? 0) };
}

export async function startOurs(worldSize: number): Promise<BenchGang> {
  const script = join(__dirname, "collective-rank.js");
  const ranks = Array.from({ length: worldSize }, () => new LineProcess(process.execPath, [script]));
  const ports = await Promise.all(ranks.map((rank) => rank.receive<{ readonly port: number }>()));
  for (const [rank, child] of ranks.entries()) child.send({ rank, ports: ports.map(({ port }) => port) });
  await Promise.all(ranks.map((rank) => rank.receive()));
  return {
    measure: (task) => measureAll(ranks, task),
    close: () => {
      for (const rank of ranks) rank.kill();
    },
  };
}

export async function startGloo(worldSize: number, { python }: PeerPython): Promise<BenchGang> {
  const folder = mkdtempSync(join(tmpdir(), "ringmaster-bench-"));
  const script = join(process.cwd(), "bench/collective/gloo.py");
  const ranks = Array.from(
    { length: worldSize },
    (_, rank) =>
      new LineProcess(python, ["-u", script, String(rank), String(worldSize), `file://${folder}/store`], {
        GLOO_SOCKET_IFNAME: "lo",
      }),
  );
  await Promise.all(ranks.map((rank) => rank.receive()));
  return {
    measure: (task) => measureAll(ranks, task),
    close: () => {
      for (const rank of ranks) rank.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
