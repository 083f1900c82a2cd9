import { type FormationLine, measureFormation } from "../../test/support/large-gang/formation";
import { goodputOf, type Job } from "../../test/support/large-gang/goodput";
import { defaultLinks } from "../../test/support/large-gang/links";
import { measureSums, type SumLine } from "../../test/support/large-gang/sums";
import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import { formationTable, goodputTable, sumTable } from "./table";

const gangSizes = [8, 32, 128, 512, 1_000];
const worlds = [2, 4, 8, 16, 32, 64, 100, 128, 512, 1_000];
const sizes = [4 * 1024, 2 ** 20, 100_000_000];
const lossRates = [0.001, 0.01, 0.05];
const job: Job = { stepMs: 1_000, stateBytes: 3 * 100_000_000 };

export async function benchScale(args: readonly string[]): Promise<void> {
  const { seed, json } = parseOptions(args, { seed: 1 });
  const report = startReport(json);
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
  report(
    { models: { links: defaultLinks, job }, seed, seconds, formations, sums, goodputs },
    `seed ${seed}, ${seconds} s`,
    "No peer: virtual time, of this code over simulated links and a simulated store.",
    "",
    formationTable(formations),
    "",
    `links: ${JSON.stringify(defaultLinks)}; * formula, otherwise the trainer's own code`,
    "",
    sumTable(sums),
    "",
    `steps of ${job.stepMs} ms, ${job.stateBytes / 1e6} MB of state`,
    "",
    goodputTable(goodputs),
  );
}

/** Returns the recovery time of each size after one loss, by the protocol that it uses. */
function recoveries(lines: readonly FormationLine[]): readonly FormationLine[] {
  return lines.filter(
    ({ workers, protocol, event, ms }) =>
      event === "lose 1" && ms !== undefined && protocol === (workers > 64 ? "by turns" : "all look"),
  );
}
