import { setTimeout as sleep } from "node:timers/promises";
import type { Operation } from "../../test/core/registry/check/operation";
import { drawOperations, preparedOperations } from "../../test/core/registry/check/operations";
import { perform } from "../../test/core/registry/check/perform";
import { step } from "../../test/core/registry/check/reference";
import { instantViolations, replay } from "../../test/core/registry/check/replay";
import { integerBelow, type Random } from "../elastic/random";
import type { LineProcess } from "../support/line-process";
import type { Answer } from "./protocol";
import type { Store } from "./store";

const versions = 8;

export interface RoundResult {
  readonly kills: number;
  /** Operations by how they ended; `died`: nobody lived to hear the answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** Rounds of an operation that others overtook. */
  readonly overtaken: number;
  /** Whole looks at the model while it was changed. */
  readonly looks: number;
  /** Entries of history that the answers call for, the least and the most (who died may have done it), and those that there are. */
  readonly expected: readonly [number, number];
  readonly found: number;
  readonly violations: readonly string[];
}

/** One model, operations at the same time by processes of which some are killed; then all is held against the reference. */
export async function playRound(
  { registry }: Store,
  start: () => LineProcess,
  clients: LineProcess[],
  round: { readonly number: number; readonly operations: number; readonly kills: number; readonly random: Random },
): Promise<RoundResult> {
  const { random } = round;
  const model = `model-${round.number}`;
  const prepared = preparedOperations(versions, "prepare");
  for (const operation of prepared) await perform(registry, model, operation);
  const drawn = drawOperations(random, round.operations, versions, `round-${round.number}`);
  const operations = new Map([...prepared, ...drawn].map((operation) => [operation.id, operation]));
  const answers = new Map<string, string>();
  const violations: string[] = [];
  let [kills, overtaken, looks, active] = [0, 0, 0, clients.length];

  /** Gives a client its share, and its successor what is left where it is killed. */
  async function employ(at: number, share: readonly Operation[]): Promise<void> {
    const waiting = new Map(share.map((operation) => [operation.id, operation]));
    clients[at]!.send({ model, operations: share });
    while (waiting.size > 0) {
      const told = await clients[at]!.receive<Answer>().catch(() => undefined);
      if (told !== undefined) {
        answers.set(told.id, told.answer);
        overtaken += told.rounds - 1;
        waiting.delete(told.id);
        void killSome();
        continue;
      }
      clients[at] = start();
      for (const id of [...waiting.keys()].filter(() => random() < 0.3)) {
        answers.set(id, "died");
        waiting.delete(id);
      }
      if (waiting.size > 0) clients[at]!.send({ model, operations: [...waiting.values()] });
    }
    active -= 1;
  }

  /** Kills come when so many answers have, so that they hit clients at work; a little later, so that they hit any instant of it. */
  const killAfter = Array.from({ length: round.kills }, () => integerBelow(random, round.operations)).sort(
    (a, b) => a - b,
  );
  async function killSome(): Promise<void> {
    while (active > 0 && killAfter.length > 0 && answers.size >= killAfter[0]!) {
      killAfter.shift();
      await sleep(random() * 30);
      if (active === 0) return;
      clients[integerBelow(random, clients.length)]!.kill();
      kills += 1;
    }
  }

  async function look(): Promise<void> {
    while (active > 0) {
      const seen = await registry.snapshot(model);
      looks += 1;
      violations.push(...instantViolations(seen).map((violation) => `${model}, a reader: ${violation}`));
      await sleep(50);
    }
  }

  const shares = clients.map((_, at) => drawn.filter((_operation, index) => index % clients.length === at));
  await Promise.all([...shares.map((share, at) => employ(at, share)), look()]);

  // All rows, those of deleted versions too; nobody changes them any more.
  const { repository } = registry;
  const [head, rows, history] = await Promise.all([
    repository.find(model),
    repository.listVersions(model),
    repository.history(model),
  ]);
  const end = { model: head!, versions: rows, history };
  const { states, revisions, violations: wrong } = replay(end, operations);
  violations.push(...[...wrong, ...instantViolations(end)].map((violation) => `${model}: ${violation}`));
  let [least, most] = [prepared.length, prepared.length];
  for (const { id } of drawn) {
    const answer = answers.get(id)!;
    const operation = operations.get(id)!;
    const nothingToDo = states.some((state) => step(state, operation).kind === "nothing");
    if (answer === "died") most += 1;
    if (answer === "done" && (revisions.has(id) || !nothingToDo)) [least, most] = [least + 1, most + 1];
    if (answer === "done" && !revisions.has(id) && !nothingToDo) violations.push(`${id} is done, and not in history`);
    if (answer !== "done" && answer !== "died" && revisions.has(id)) violations.push(`${id} is ${answer}, and done`);
    if (!/^(done|died|[A-Z_]+)$/.test(answer)) violations.push(`${id} failed: ${answer}`);
  }
  if (end.history.length < least || end.history.length > most)
    violations.push(`${model} has ${end.history.length} entries, expected are ${least} to ${most}`);
  const counts: Record<string, number> = {};
  for (const answer of answers.values()) counts[answer] = (counts[answer] ?? 0) + 1;
  return { kills, answers: counts, overtaken, looks, expected: [least, most], found: end.history.length, violations };
}
