import { setTimeout as sleep } from "node:timers/promises";
import { parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { describePeer, findTorch, peerLine } from "../support/peer-python";
import { startReport } from "../support/report";
import { type BenchGang, type GangMeasured, startGloo, startOurs, type Transport } from "./gangs";
import type { Task } from "./protocol";
import { type Line, renderTable, type Times } from "./table";

const worldSizes = [2, 4];
const transports: readonly Transport[] = ["tcp", "local"];
/** Bytes of the vector, and iterations of one round. */
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
/** Our all-reduce over both transports and the peer alternate, so that other load on the machine affects all. */
const rounds = 5;

interface Gangs {
  readonly own: Readonly<Record<Transport, BenchGang>>;
  readonly peer: BenchGang | undefined;
}

async function measureSize(
  { own, peer }: Gangs,
  worldSize: number,
  bytes: number,
  iterations: number,
): Promise<Line[]> {
  const task: Task = { elements: bytes / 4, iterations, warmUps: Math.max(2, Math.ceil(iterations / 5)) };
  const theirs: GangMeasured[] = [];
  const ours: Record<Transport, GangMeasured[]> = { tcp: [], local: [] };
  for (let round = 0; round < rounds; round++) {
    for (const transport of transports) ours[transport].push(await own[transport].measure(task));
    if (peer) theirs.push(await peer.measure(task));
  }
  const bound = ((2 * (worldSize - 1)) / worldSize) * bytes;
  return transports.map((transport) => ({
    worldSize,
    transport,
    bytes,
    ...timesOf(ours[transport]),
    peer: peer && timesOf(theirs),
    wireOverBound: Math.max(...ours[transport].flatMap(({ bytesByRank }) => bytesByRank)) / bound,
  }));
}

function timesOf(measured: readonly GangMeasured[]): Times {
  return {
    micros: median(measured.flatMap(({ micros }) => micros)),
    cpuMicros: median(measured.map(({ cpuMicros }) => cpuMicros)),
  };
}

export async function benchCollective(args: readonly string[]): Promise<void> {
  const report = startReport(parseOptions(args, {}).json);
  const torch = findTorch();
  const lines: Line[] = [];
  for (const worldSize of worldSizes) {
    const own = { tcp: await startOurs(worldSize, "tcp"), local: await startOurs(worldSize, "local") };
    const peer = typeof torch === "string" ? undefined : await startGloo(worldSize, torch);
    try {
      // Compiling and importing are over; let the machine settle.
      await sleep(1_000);
      for (const [bytes, iterations] of sizes) {
        lines.push(...(await measureSize({ own, peer }, worldSize, bytes, iterations)));
      }
    } finally {
      for (const gang of Object.values(own)) gang.close();
      peer?.close();
    }
  }
  report(
    { peer: describePeer(torch, "PyTorch Gloo"), lines },
    peerLine(torch, `Gloo, one thread a rank, loopback; medians over ${rounds} rounds in alternation`),
    "",
    renderTable(lines),
  );
}
