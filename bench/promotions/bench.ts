import { join } from "node:path";
import { seededRandom } from "../../test/support/random";
import { parseOptions } from "../support/arguments";
import { LineProcess } from "../support/line-process";
import { startReport } from "../support/report";
import { Clients } from "./clients";
import { connection, connectRegistry } from "./registry";
import { playRound, prepareRound, type RoundResult } from "./round";
import { startStore } from "./store";

export async function benchPromotions(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { rounds: 20, operations: 200, clients: 8, kills: 3, minutes: Infinity, seed: 1 });
  const report = startReport(values.json);
  const results: RoundResult[] = [];
  const startedAt = Date.now();
  const store = await startStore();
  const connected = connectRegistry(connection(store.endpoint));
  const start = () =>
    new LineProcess(process.execPath, [join(__dirname, "promotions-client.js"), store.endpoint], {
      NODE_NO_WARNINGS: "1",
    });
  const clients = new Clients(start, values.clients, values.kills);
  try {
    for (let number = 1; number <= values.rounds; number += 1) {
      const model = `model-${number}`;
      const round = { model, operations: values.operations, kills: values.kills };
      const random = seededRandom(values.seed * 1_000_003 + number);
      const prepared = await prepareRound(connected, model);
      const result = await playRound(store, connected, clients, { ...round, random }, prepared);
      results.push(result);
      for (const violation of result.violations) process.stderr.write(`${violation}\n`);
      const seconds = (Date.now() - startedAt) / 1000;
      if (number % 10 === 0) process.stderr.write(`${progress(results)}, ${Math.round(seconds)} s\n`);
      if (seconds > values.minutes * 60) break;
    }
  } finally {
    clients.close();
    connected.close();
    await store.close();
  }
  const total = totals(results);
  report({ seed: values.seed, ...total }, `seed ${values.seed}, ${values.clients} processes`, "", tableOf(total));
  if (total.violations.length > 0) process.exitCode = 1;
}

function progress(results: readonly RoundResult[]): string {
  const { rounds, kills, operations, violations } = totals(results);
  return `${rounds} rounds, ${kills} SIGKILLs, ${operations} operations, ${violations.length} violations`;
}

function totals(results: readonly RoundResult[]) {
  const sum = (of: (result: RoundResult) => number) => results.reduce((total, each) => total + of(each), 0);
  const answers: Record<string, number> = {};
  for (const result of results)
    for (const [answer, count] of Object.entries(result.answers)) answers[answer] = (answers[answer] ?? 0) + count;
  return {
    rounds: results.length,
    operations: sum((each) => Object.values(each.answers).reduce((total, count) => total + count, 0)),
    kills: sum(({ kills }) => kills),
    lostRaces: sum(({ lostRaces }) => lostRaces),
    looks: sum(({ looks }) => looks),
    expected: [sum(({ expected }) => expected[0]), sum(({ expected }) => expected[1])] as const,
    found: sum(({ found }) => found),
    events: sum(({ events }) => events),
    answers,
    violations: results.flatMap(({ violations }) => violations),
  };
}

function tableOf({ answers, expected, violations, ...total }: ReturnType<typeof totals>): string {
  const ended = Object.entries(answers).sort(([, a], [, b]) => b - a);
  return [
    "| rounds | operations | processes killed | commits that lost a race and were retried | reads of the model | history expected | found | events published | violations |",
    "| --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    `| ${total.rounds} | ${total.operations} | ${total.kills} | ${total.lostRaces} | ${total.looks} | ${expected.join(" to ")} | ${total.found} | ${total.events} | ${violations.length} |`,
    "",
    `Results: ${ended.map(([answer, count]) => `${answer} ${count}`).join(", ")}`,
    ...violations.slice(0, 20),
  ].join("\n");
}
