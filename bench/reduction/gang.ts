import { join } from "node:path";
import { LineProcess } from "../support/line-process";
import { median, slowest } from "../support/median";
import type { RankMeasured, RankTask } from "./rank";

/** The canonical order against the fastest, between processes. */
export interface OrderLine {
  readonly worldSize: number;
  readonly elements: number;
  /** Medians of an all-reduce on its slowest rank. */
  readonly canonicalMicros: number;
  readonly arrivalMicros: number;
  /** Medians over rounds of the mean over ranks. */
  readonly canonicalCpuMicros: number;
  readonly arrivalCpuMicros: number;
}

/** Elements of the vector, all-reduces of one round. The smallest is what agreeing on exponents of 5 million elements would send. */
const sizes: readonly (readonly [elements: number, iterations: number])[] = [
  [5_000, 200],
  [65_536, 60],
  [536_000, 20],
  [5_000_000, 4],
];
const orders = ["canonical", "arrival"] as const;

async function startRanks(worldSize: number): Promise<readonly LineProcess[]> {
  const script = join(__dirname, "reduction-rank.js");
  const ranks = Array.from({ length: worldSize }, () => new LineProcess(process.execPath, [script]));
  const ports = await Promise.all(ranks.map((rank) => rank.receive<{ readonly port: number }>()));
  for (const [rank, child] of ranks.entries()) child.send({ rank, ports: ports.map(({ port }) => port) });
  await Promise.all(ranks.map((rank) => rank.receive()));
  return ranks;
}

export async function measureOrders(worldSizes: readonly number[], rounds: number): Promise<OrderLine[]> {
  const lines: OrderLine[] = [];
  for (const worldSize of worldSizes) {
    const ranks = await startRanks(worldSize);
    try {
      for (const [elements, iterations] of sizes) {
        const micros = { canonical: [] as number[], arrival: [] as number[] };
        const cpu = { canonical: [] as number[], arrival: [] as number[] };
        for (let round = 0; round < rounds; round++) {
          // Who begins changes from round to round: what else the machine does meets both.
          for (const order of round % 2 === 0 ? orders : orders.toReversed()) {
            const task: RankTask = { elements, iterations, order };
            for (const rank of ranks) rank.send(task);
            const measured = await Promise.all(ranks.map((rank) => rank.receive<RankMeasured>()));
            micros[order].push(...slowest(measured.map((one) => one.micros)));
            cpu[order].push(measured.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / worldSize);
          }
        }
        lines.push({
          worldSize,
          elements,
          canonicalMicros: median(micros.canonical),
          arrivalMicros: median(micros.arrival),
          canonicalCpuMicros: median(cpu.canonical),
          arrivalCpuMicros: median(cpu.arrival),
        });
      }
    } finally {
      for (const rank of ranks) rank.kill();
    }
  }
  return lines;
}
