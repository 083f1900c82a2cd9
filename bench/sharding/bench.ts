import { join } from "node:path";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";
import type { Measured, Mode, Setup } from "./protocol";

interface Gang {
  readonly mode: Mode;
  readonly ranks: readonly LineProcess[];
  readonly rounds: Measured[][];
}

async function startGang(worldSize: number, setup: Setup): Promise<Gang> {
  const script = join(__dirname, "sharding-rank.js");
  const ranks = Array.from(
    { length: worldSize },
    () => new LineProcess(process.execPath, [script, JSON.stringify(setup)]),
  );
  const ports = await Promise.all(ranks.map((rank) => rank.receive<{ readonly port: number }>()));
  for (const [rank, child] of ranks.entries()) child.send({ rank, ports: ports.map(({ port }) => port) });
  await Promise.all(ranks.map((rank) => rank.receive()));
  return { mode: setup.mode, ranks, rounds: [] };
}

async function measure({ ranks }: Gang, steps: number): Promise<Measured[]> {
  for (const rank of ranks) rank.send({ steps });
  return Promise.all(ranks.map((rank) => rank.receive<Measured>()));
}

const largest = (values: readonly number[]) => Math.max(...values);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function lineOf({ mode, rounds, ranks }: Gang, parameters: number, steps: number) {
  const last = rounds.at(-1)!;
  return {
    parameters,
    ranks: ranks.length,
    mode,
    slotMiBPerRank: largest(last.map(({ slotBytes }) => slotBytes)) / 2 ** 20,
    rssMiBPerRank: largest(last.map(({ rssBytes }) => rssBytes)) / 2 ** 20,
    stepMs: (median(rounds.map((round) => largest(round.map(({ seconds }) => seconds)))) / steps) * 1e3,
    cpuMsPerRank:
      (median(rounds.map((round) => sum(round.map(({ cpuSeconds }) => cpuSeconds)))) / steps / ranks.length) * 1e3,
    mibSentPerRank: sum(last.map(({ bytesSent }) => bytesSent)) / ranks.length / steps / 2 ** 20,
  };
}

type Line = ReturnType<typeof lineOf>;

function render(lines: readonly Line[]): string {
  const columns = ["parameters", "ranks", "optimizer", "slots MiB a rank", "RSS MiB a rank", "step ms"];
  const rows = lines.map((line) => [
    ...[line.parameters.toLocaleString("en"), String(line.ranks), line.mode, line.slotMiBPerRank.toFixed(2)],
    ...[line.rssMiBPerRank.toFixed(0), line.stepMs.toFixed(2)],
    ...[line.cpuMsPerRank.toFixed(2), line.mibSentPerRank.toFixed(3)],
  ]);
  return markdownTable([...columns, "CPU ms a rank", "MiB sent a rank"], rows);
}

const integers = (text: string) => text.split(",").map(Number);

/**
 * Measures steps with the optimizer's state split between the ranks and complete on each: memory, time and bytes per step, and
 * equal bits. `[--ranks 1,2,4,8] [--parameters 535818,10000000] [--rounds N] [--steps N] [--json]`
 */
export async function benchSharding(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { ranks: "1,2,4,8", parameters: "535818,10000000", rounds: 7, steps: 10 });
  const { rounds, steps } = values;
  const report = startReport(values.json);
  const lines: Line[] = [];
  for (const parameters of integers(values.parameters)) {
    for (const worldSize of integers(values.ranks)) {
      const gangs: Gang[] = [];
      try {
        for (const mode of ["replicated", "sharded"] as const) {
          gangs.push(await startGang(worldSize, { mode, parameters, microshards: Math.max(8, worldSize) }));
        }
        for (const gang of gangs) await measure(gang, steps); // compiles, allocates, warms caches
        for (let round = 0; round < rounds; round += 1) {
          for (const gang of round % 2 === 0 ? gangs : gangs.toReversed()) gang.rounds.push(await measure(gang, steps));
        }
      } finally {
        for (const rank of gangs.flatMap(({ ranks }) => ranks)) rank.kill();
      }
      const checksums = new Set(gangs.flatMap(({ rounds: all }) => all.at(-1)!.map(({ checksum }) => checksum)));
      if (checksums.size > 1) throw new Error("the two optimizers' weights differ");
      lines.push(...gangs.map((gang) => lineOf(gang, parameters, steps)));
    }
  }
  report({ lines }, "", render(lines));
}
