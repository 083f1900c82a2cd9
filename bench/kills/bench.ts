import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "../elastic/random";
import { builtBundles } from "../support/bundles";
import { describeMachine, machineLine } from "../support/machine";
import { median } from "../support/median";
import { Campaign, type RoundResult } from "./campaign";
import { prepareLoads } from "./loads";
import type { Entry } from "./operation";
import { KillableStack } from "./stack";

/** Runs `kill -9` under mixed load on all entry points. After each restart the history of every operation is checked. */
export async function benchKills(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "100" },
      /** The number of the first round. With the seed it determines a round. */
      from: { type: "string", default: "1" },
      clients: { type: "string", default: "8" },
      minutes: { type: "string", default: "Infinity" },
      seed: { type: "string", default: "1" },
      /** Keeps the data directory. */
      keep: { type: "boolean", default: false },
      json: { type: "boolean" },
    },
  });
  const machine = describeMachine();
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-kills-"));
  const stack = new KillableStack(builtBundles(), join(directory, "data"));
  process.stderr.write(`${machineLine(machine)}, seed ${values.seed}, data in ${directory}\n`);
  const results: RoundResult[] = [];
  const violations: string[] = [];
  const report = (found: readonly string[]): void => {
    violations.push(...found);
    for (const violation of found) {
      process.stderr.write(`VIOLATION ${violation}\n`);
      appendFileSync(join(directory, "violations.log"), `${violation}\n`);
    }
  };
  const startedAt = Date.now();
  const seconds = () => (Date.now() - startedAt) / 1000;
  let campaign: Campaign | undefined;
  try {
    await stack.start();
    const loads = await prepareLoads(stack, directory);
    campaign = new Campaign(stack, loads, { clients: Number(values.clients), lookedAtAgain: 20 });
    const first = Number(values.from);
    for (let round = first; round < first + Number(values.rounds); round += 1) {
      const result = await campaign.play(round, seededRandom(Number(values.seed) * 1_000_003 + round));
      results.push(result);
      report(result.violations);
      if (results.length % 10 === 0) process.stderr.write(`${progress(results, violations.length, seconds())}\n`);
      if (results.length % 100 === 0) report(await campaign.audit());
      if (seconds() > Number(values.minutes) * 60) break;
    }
    report(await campaign.audit());
  } finally {
    await stack.close();
    if (values.keep || violations.length > 0) process.stderr.write(`data kept in ${directory}\n`);
    else rmSync(directory, { recursive: true, force: true });
  }
  const total = {
    ...{ rounds: results.length, seconds: Math.round(seconds()), startMs: Math.round(median(stack.startMs)) },
    victims: {
      ...countBy(results, ({ victim }) => victim),
      "a stack that starts": campaign?.killedStarts ?? 0,
    },
    ...{ ...countsOf(campaign?.entries ?? []) },
    violations,
  };
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, seed: values.seed, ...total }, null, 2)}\n`);
  else process.stdout.write(`${machineLine(machine)}, seed ${values.seed}\n\n${tableOf(total)}\n`);
  if (violations.length > 0) process.exitCode = 1;
}

function progress(results: readonly RoundResult[], violations: number, seconds: number): string {
  const operations = results.reduce((sum, each) => sum + each.operations, 0);
  return `${results.length} rounds, ${operations} operations, ${violations} violations, ${Math.round(seconds)} s`;
}

function countBy<T>(items: readonly T[], of: (item: T) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[of(item)] = (counts[of(item)] ?? 0) + 1;
  return counts;
}

function countsOf(entries: readonly Entry[]) {
  const outcome = ({ answer }: Entry) => (/^(acknowledged|unanswered)$/.test(answer) ? answer : "refused");
  const kinds = Object.keys(countBy(entries, ({ operation }) => operation.kind)).sort();
  return {
    operations: entries.length,
    kinds: kinds.map((kind) => ({
      kind,
      ...countBy(
        entries.filter(({ operation }) => operation.kind === kind),
        outcome,
      ),
    })) as readonly { readonly kind: string; readonly [outcome: string]: number | string }[],
  };
}

function tableOf(total: {
  readonly rounds: number;
  readonly seconds: number;
  readonly startMs: number;
  readonly victims: Readonly<Record<string, number>>;
  readonly operations: number;
  readonly kinds: ReturnType<typeof countsOf>["kinds"];
  readonly violations: readonly string[];
}): string {
  const victims = Object.entries(total.victims).map(([victim, count]) => `${victim} ${count}`);
  return [
    "| operation | acknowledged | no answer | refused by a rule |",
    "| --- | --: | --: | --: |",
    ...total.kinds.map(
      ({ kind, acknowledged = 0, unanswered = 0, refused = 0 }) =>
        `| ${kind} | ${acknowledged} | ${unanswered} | ${refused} |`,
    ),
    "",
    `${total.rounds} rounds in ${total.seconds} s (a start takes ${total.startMs} ms), ${total.operations} operations; killed: ${victims.join(", ")}`,
    `violations: ${total.violations.length}`,
  ].join("\n");
}
