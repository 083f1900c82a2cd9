import { join } from "node:path";
import { LineProcess } from "../support/line-process";
import { median, slowest } from "../support/median";
import { type Contender, contenders } from "./contenders";
import type { RankMeasured, RankTask } from "./rank";

/** One method to sum between processes. */
export interface OrderLine {
  readonly worldSize: number;
  readonly elements: number;
  readonly contender: Contender;
  /** Median of an all-reduce on its slowest rank. */
  readonly micros: number;
  /** Median over rounds of the mean over ranks: user and system time. */
  readonly cpuMicros: number;
}

/**
 * Elements of the vector, and all-reduces per turn: few, so that other load affects all contenders. The smallest vector is about
 * the size of the exponents of 5 million elements.
 */
const sizes: readonly (readonly [elements: number, iterations: number])[] = [
  [5_000, 50],
  [65_536, 15],
  [536_000, 4],
  [5_000_000, 1],
];
/** Turns of each contender per requested round. */
const turnsARound = 4;

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
        const micros = contenders.map(() => [] as number[]);
        const cpu = contenders.map(() => [] as number[]);
        for (let round = 0; round < rounds * turnsARound; round++) {
          for (let turn = 0; turn < contenders.length; turn++) {
            // The first contender changes from round to round, so that other load affects all.
            const index = (turn + round) % contenders.length;
            const task: RankTask = { elements, iterations, contender: contenders[index] as Contender };
            for (const rank of ranks) rank.send(task);
            const measured = await Promise.all(ranks.map((rank) => rank.receive<RankMeasured>()));
            micros[index]?.push(...slowest(measured.map((one) => one.micros)));
            cpu[index]?.push(measured.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) / worldSize);
          }
        }
        lines.push(
          ...contenders.map((contender, index) => ({
            worldSize,
            elements,
            contender,
            micros: median(micros[index] ?? []),
            cpuMicros: median(cpu[index] ?? []),
          })),
        );
      }
    } finally {
      for (const rank of ranks) rank.kill();
    }
  }
  return lines;
}
