import { join, resolve } from "node:path";
import { losePower, unavailable } from "../../test/support/power-loss/rounds";
import { seededRandom } from "../../test/support/random";
import { parseOptions } from "../support/arguments";
import { startReport } from "../support/report";
import { markdownTable } from "../support/table";

export async function benchPowerLoss(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { rounds: 200, writes: 400, seed: 1 });
  const reason = unavailable();
  if (reason !== undefined) {
    process.stdout.write(`power-loss is skipped: ${reason}\n`);
    return;
  }
  const report = startReport(values.json);
  const result = await losePower({
    rounds: values.rounds,
    writes: values.writes,
    random: seededRandom(values.seed),
    workload: join(__dirname, "power-loss-workload.js"),
    source: resolve("test/support/power-loss/sync-trace.c"),
  });
  const { rounds, syncs, acknowledged, lost, refused } = result;
  const counts = [rounds, syncs, acknowledged, lost.length, refused.length];
  report(
    result,
    "",
    markdownTable(
      ["rounds", "syncs traced", "acknowledged writes looked for", "lost", "refused as damaged"],
      [counts.map(String)],
    ),
    ...[...lost, ...refused].slice(0, 20),
  );
  if (lost.length + refused.length > 0) process.exitCode = 1;
}
