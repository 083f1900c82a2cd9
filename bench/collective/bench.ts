import { setTimeout as sleep } from "node:timers/promises";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { findTorch } from "../support/peer-python";
import { type BenchGang, startGloo, startOurs } from "./gangs";
import type { Task } from "./protocol";
import { type Line, renderTable } from "./table";

const worldSizes = [2, 4];
/** Bytes of the vector; iterations of one round. */
const sizes: readonly (readonly [bytes: number, iterations: number])[] = [
  [4 * 1024, 500],
  [64 * 1024, 300],
  [256 * 1024, 150],
  [1024 * 1024, 60],
  [4 * 1024 * 1024, 25],
  [16 * 1024 * 1024, 9],
  [64 * 1024 * 1024, 4],
  [100_000_000, 3],
];
/** Ours and the peer take turns, so that what else the machine does meets both. */
const rounds = 5;

async function measureWorld(worldSize: number, ours: BenchGang, peer: BenchGang | undefined): Promise<Line[]> {
  const lines: Line[] = [];
  for (const [bytes, iterations] of sizes) {
    const task: Task = { elements: bytes / 4, iterations, warmUps: Math.max(2, Math.ceil(iterations / 5)) };
    const own: number[] = [];
    const theirs: number[] = [];
    let bytesByRank: readonly number[] = [];
    for (let round = 0; round < rounds; round++) {
      const measured = await ours.measure(task);
      own.push(...measured.micros);
      bytesByRank = measured.bytesByRank;
      if (peer) theirs.push(...(await peer.measure(task)).micros);
    }
    const bound = ((2 * (worldSize - 1)) / worldSize) * bytes;
    lines.push({
      worldSize,
      bytes,
      micros: median(own),
      peerMicros: peer && median(theirs),
      wireOverBound: Math.max(...bytesByRank) / bound,
    });
  }
  return lines;
}

/** Our all-reduce against PyTorch Gloo's, processes over loopback; `--json` for machines. */
export async function benchCollective(args: readonly string[]): Promise<void> {
  const machine = describeMachine();
  const torch = findTorch();
  const lines: Line[] = [];
  for (const worldSize of worldSizes) {
    const ours = await startOurs(worldSize);
    const peer = typeof torch === "string" ? undefined : await startGloo(worldSize, torch);
    try {
      // Compiling and importing is over; let the machine settle.
      await sleep(1_000);
      lines.push(...(await measureWorld(worldSize, ours, peer)));
    } finally {
      ours.close();
      peer?.close();
    }
  }
  const after = describeMachine();
  if (args.includes("--json")) {
    const peer = typeof torch === "string" ? { skipped: torch } : { name: "PyTorch Gloo", version: torch.torch };
    process.stdout.write(`${JSON.stringify({ machine, loadAverageAfter: after.loadAverage, peer, lines }, null, 2)}\n`);
    return;
  }
  process.stdout.write(`${machineLine(machine)} (${after.loadAverage} at the end)\n`);
  process.stdout.write(
    typeof torch === "string"
      ? `peer skipped: ${torch}\n\n`
      : `peer: PyTorch ${torch.torch} Gloo, one thread a rank, loopback; medians over ${rounds} rounds in turn\n\n`,
  );
  process.stdout.write(`${renderTable(lines)}\n`);
}
