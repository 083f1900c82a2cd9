import { describeMachine, machineLine } from "../support/machine";
import { type FormationLine, measureFormation } from "./formation";
import { type GoodputLine, goodputOf, type Job } from "./goodput";
import { defaultLinks } from "./links";
import { measureSums, type SumLine } from "./sums";
import { formationTable, goodputTable, sumTable } from "./table";

const gangSizes = [8, 32, 128, 512, 1_000];
const worlds = [2, 4, 8, 16, 32, 64, 100, 128, 512, 1_000];
const sizes = [4 * 1024, 2 ** 20, 100_000_000];
const lossRates = [0.001, 0.01, 0.05];
const job: Job = { stepMs: 1_000, stateBytes: 3 * 100_000_000 };

/** Simulates a thousand workers in virtual time. `--json` for machines, `--seed N` for other random numbers. */
export async function benchScale(args: readonly string[]): Promise<void> {
  const seed = args.includes("--seed") ? Number(args[args.indexOf("--seed") + 1]) : 1;
  const startedAt = performance.now();
  const formations: FormationLine[] = [];
  for (const workers of gangSizes) {
    formations.push(...(await measureFormation(workers, "all look", seed)));
    if (workers > 64) formations.push(...(await measureFormation(workers, "by turns", seed)));
  }
  const sums: SumLine[] = [];
  for (const bytes of sizes) for (const workers of worlds) sums.push(await measureSums(workers, bytes, defaultLinks));
  const goodputs = recoveries(formations).flatMap(({ workers, ms }) =>
    lossRates.map((rate) => goodputOf(workers, rate, ms!, job, defaultLinks)),
  );
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  print(args.includes("--json"), { seed, seconds, formations, sums, goodputs });
}

/** Returns the recovery time of each size after one loss, by the protocol that it uses. */
function recoveries(lines: readonly FormationLine[]): readonly FormationLine[] {
  return lines.filter(
    ({ workers, protocol, event, ms }) =>
      event === "lose 1" && ms !== undefined && protocol === (workers > 64 ? "by turns" : "all look"),
  );
}

interface Results {
  readonly seed: number;
  readonly seconds: number;
  readonly formations: readonly FormationLine[];
  readonly sums: readonly SumLine[];
  readonly goodputs: readonly GoodputLine[];
}

function print(json: boolean, results: Results): void {
  const machine = describeMachine();
  if (json) {
    const models = { links: defaultLinks, job };
    process.stdout.write(`${JSON.stringify({ machine, models, ...results }, null, 2)}\n`);
    return;
  }
  const { seed, seconds, formations, sums, goodputs } = results;
  process.stdout.write(`${machineLine(machine)}; seed ${seed}, ${seconds} s\n`);
  process.stdout.write("No peer: virtual time, of this code over simulated links and a simulated store.\n\n");
  process.stdout.write(`${formationTable(formations)}\n\n`);
  process.stdout.write(`links: ${JSON.stringify(defaultLinks)}; * formula, otherwise the trainer's own code\n\n`);
  process.stdout.write(`${sumTable(sums)}\n\n`);
  process.stdout.write(`steps of ${job.stepMs} ms, ${job.stateBytes / 1e6} MB of state\n\n`);
  process.stdout.write(`${goodputTable(goodputs)}\n`);
}
