import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "../../test/support/operation-verdict";
import { seededRandom } from "../../test/support/random";
import { parseOptions } from "../support/arguments";
import { builtBundles } from "../support/bundles";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { Campaign, type RoundResult } from "./campaign";
import { prepareLoads } from "./loads";
import { KillableStack } from "./stack";

export async function benchKills(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, {
    rounds: 100,
    /** The number of the first round. With the seed it determines a round. */
    from: 1,
    clients: 8,
    minutes: Infinity,
    seed: 1,
    keep: false,
  });
  const report = startReport(values.json);
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-bench-kills-"));
  const stack = new KillableStack(builtBundles(), join(directory, "data"));
  process.stderr.write(`seed ${values.seed}, data in ${directory}\n`);
  const results: RoundResult[] = [];
  const violations: string[] = [];
  const addViolations = (found: readonly string[]): void => {
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
    campaign = new Campaign(stack, loads, { clients: values.clients, lookedAtAgain: 20 });
    const { from } = values;
    for (let round = from; round < from + values.rounds; round += 1) {
      const result = await campaign.play(round, seededRandom(values.seed * 1_000_003 + round));
      results.push(result);
      addViolations(result.violations);
      if (results.length % 10 === 0) process.stderr.write(`${progress(results, violations.length, seconds())}\n`);
      if (results.length % 100 === 0) addViolations(await campaign.audit());
      if (seconds() > values.minutes * 60) break;
    }
    addViolations(await campaign.audit());
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
  report({ seed: values.seed, ...total }, `seed ${values.seed}`, "", tableOf(total));
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
