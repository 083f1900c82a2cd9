import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LineProcess } from "../support/line-process";
import { slowest } from "../support/median";
import type { PeerPython } from "../support/peer-python";
import type { Measured, RankAddress, Task } from "./protocol";

export interface GangMeasured {
  /** Time of each all-reduce on its slowest rank. */
  readonly micros: readonly number[];
  /** CPU time of one all-reduce, the mean over ranks. */
  readonly cpuMicros: number;
  /** Bytes that each rank wrote to its sockets for one all-reduce (ours only). */
  readonly bytesByRank: readonly number[];
}

export interface BenchGang {
  measure(task: Task): Promise<GangMeasured>;
  close(): void;
}

async function measureAll(ranks: readonly LineProcess[], task: Task): Promise<GangMeasured> {
  for (const rank of ranks) rank.send(task);
  const replies = await Promise.all(ranks.map((rank) => rank.receive<Measured>()));
  return {
    micros: slowest(replies.map(({ micros }) => micros)),
    cpuMicros: replies.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / ranks.length,
    bytesByRank: replies.map(({ bytes }) => bytes ?? 0),
  };
}

/** `local`: the choice of members on one host; `tcp`: the choice between hosts. */
export type Transport = "tcp" | "local";

export async function startOurs(worldSize: number, transport: Transport): Promise<BenchGang> {
  const script = join(__dirname, "collective-rank.js");
  const ranks = Array.from({ length: worldSize }, () => new LineProcess(process.execPath, [script]));
  const addresses = await Promise.all(ranks.map((rank) => rank.receive<RankAddress>()));
  const members = transport === "local" ? addresses : addresses.map(({ port }) => ({ port }));
  for (const [rank, child] of ranks.entries()) child.send({ rank, members });
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
