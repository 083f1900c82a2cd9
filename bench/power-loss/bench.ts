import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "../elastic/random";
import { describeMachine, machineLine } from "../support/machine";
import { losePower, unavailable } from "./rounds";

/** Cuts the power of the embedded cloud's stores at random times, and looks for every acknowledged write. */
export async function benchPowerLoss(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "boolean", default: false },
      rounds: { type: "string", default: "200" },
      writes: { type: "string", default: "400" },
      seed: { type: "string", default: "1" },
    },
  });
  const reason = unavailable();
  if (reason !== undefined) {
    process.stdout.write(`power-loss is skipped: ${reason}\n`);
    return;
  }
  const result = await losePower({
    rounds: Number(values.rounds),
    writes: Number(values.writes),
    random: seededRandom(Number(values.seed)),
    workload: join(__dirname, "power-loss-workload.js"),
    source: resolve("bench/power-loss/sync-trace.c"),
  });
  const { rounds, syncs, acknowledged, lost, refused } = result;
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  else {
    process.stdout.write(
      `${machineLine(describeMachine())}\n\n| rounds | syncs traced | acknowledged writes looked for | lost | refused as damaged |\n| --: | --: | --: | --: | --: |\n| ${rounds} | ${syncs} | ${acknowledged} | ${lost.length} | ${refused.length} |\n`,
    );
    for (const line of [...lost, ...refused].slice(0, 20)) process.stdout.write(`${line}\n`);
  }
  if (lost.length + refused.length > 0) process.exitCode = 1;
}
