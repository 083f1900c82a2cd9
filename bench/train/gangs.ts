import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RankAddress } from "../collective/protocol";
import { LineProcess } from "../support/line-process";
import type { PeerPython } from "../support/peer-python";
import type { Failed, Measured, Ready, Setup, Task, TorchSetup } from "./protocol";

export interface TrainGang {
  readonly parameters: number;
  /** Returns seconds of the slowest rank, and CPU seconds of all. */
  measure(task: Task): Promise<Measured>;
  close(): void;
}

const canPin = spawnSync("taskset", ["--version"]).status === 0;

/** Pins one core per worker, for ours and the peer's: with a free second core, helper threads would favour one worker over two. */
function pinned(rank: number, command: string, args: readonly string[], env: Record<string, string> = {}): LineProcess {
  const variables = { ...env, OMP_NUM_THREADS: "1" };
  return canPin
    ? new LineProcess("taskset", ["-c", String(rank), command, ...args], variables)
    : new LineProcess(command, args, variables);
}

export const pinning = canPin ? "each worker pinned to one core" : "workers not pinned (no taskset)";

function gangOf(ranks: readonly LineProcess[], ready: readonly Ready[], onClose: () => void): TrainGang {
  return {
    parameters: ready[0]!.parameters,
    async measure(task) {
      for (const rank of ranks) rank.send(task);
      const answers = await Promise.all(ranks.map((rank) => rank.receive<Measured | Failed>()));
      const replies = answers.map((answer) => {
        if ("failure" in answer) throw new Error(answer.failure);
        return answer;
      });
      const loss = replies.reduce((total, reply) => total + reply.loss, 0) / replies.length;
      if (!Number.isFinite(loss)) throw new Error(`the loss is ${loss}, so this was no valid training`);
      return {
        seconds: Math.max(...replies.map(({ seconds }) => seconds)),
        cpuSeconds: replies.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0),
        loss,
      };
    },
    close() {
      for (const rank of ranks) rank.kill();
      onClose();
    },
  };
}

export async function startOurs(worldSize: number, setup: Setup): Promise<TrainGang> {
  const script = join(__dirname, "train-worker.js");
  const args = [script, JSON.stringify(setup)];
  const ranks = Array.from({ length: worldSize }, (_, rank) => pinned(rank, process.execPath, args));
  const members = await Promise.all(ranks.map((rank) => rank.receive<RankAddress>()));
  for (const [rank, child] of ranks.entries()) child.send({ rank, members });
  const ready = await Promise.all(ranks.map((rank) => rank.receive<Ready>()));
  return gangOf(ranks, ready, () => undefined);
}

/** Starts separate trainings of one worker each at the same time: the throughput that the machine gives to that many cores. */
export async function startApart(count: number, setup: Setup): Promise<TrainGang> {
  const script = join(__dirname, "train-worker.js");
  const workers = Array.from({ length: count }, (_, core) =>
    pinned(core, process.execPath, [script, JSON.stringify(setup)]),
  );
  for (const worker of workers) {
    worker.send({ rank: 0, members: [await worker.receive<RankAddress>()] });
  }
  const ready = await Promise.all(workers.map((worker) => worker.receive<Ready>()));
  return gangOf(workers, ready, () => undefined);
}

export async function startTorch(worldSize: number, setup: TorchSetup, { python }: PeerPython): Promise<TrainGang> {
  const folder = mkdtempSync(join(tmpdir(), "ringmaster-bench-"));
  const script = join(process.cwd(), "bench/train/torch_rank.py");
  const ranks = Array.from({ length: worldSize }, (_, rank) => {
    const args = ["-u", script, String(rank), String(worldSize), `file://${folder}/store`, JSON.stringify(setup)];
    return pinned(rank, python, args, { GLOO_SOCKET_IFNAME: "lo" });
  });
  const ready = await Promise.all(ranks.map((rank) => rank.receive<Ready>()));
  return gangOf(ranks, ready, () => rmSync(folder, { recursive: true, force: true }));
}
