import { setTimeout as sleep } from "node:timers/promises";
import { hasCode } from "../../core/errors";
import { sweepOutbox } from "../../core/registry/outbox";
import type { Operation } from "../../test/core/registry/check/operation";
import { drawOperations, preparedOperations } from "../../test/core/registry/check/operations";
import { perform } from "../../test/core/registry/check/perform";
import { instantViolations } from "../../test/core/registry/check/replay";
import { integerBelow, type Random } from "../../test/support/random";
import type { Clients } from "./clients";
import type { Answer } from "./protocol";
import type { ConnectedRegistry } from "./registry";
import type { Store } from "./store";
import { judge, type Verdict } from "./verdict";

const versions = 8;
/** The chance that a reader also sweeps. A sweep of each minute would rarely coincide with publishers. */
const sweeps = 0.1;
/** A time at which every event in the outbox is due. */
const late = { now: () => Date.parse("2100-01-01T00:00:00.000Z") };

export interface RoundResult extends Verdict {
  readonly kills: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly lostRaces: number;
  /** Complete reads of the model and its pointer during its changes. */
  readonly looks: number;
}

export interface Round {
  readonly model: string;
  readonly operations: number;
  readonly kills: number;
  readonly random: Random;
}

export async function prepareRound({ registry }: ConnectedRegistry, model: string): Promise<readonly Operation[]> {
  const prepared = preparedOperations(versions, `${model}-prepare`);
  for (const operation of prepared) await perform(registry, model, operation);
  return prepared;
}

export async function playRound(
  store: Store,
  connected: ConnectedRegistry,
  clients: Clients,
  { model, operations, kills: killCount, random }: Round,
  prepared: readonly Operation[],
): Promise<RoundResult> {
  const drawn = drawOperations(random, operations, versions, model);
  const answers = new Map<string, string>();
  const violations: string[] = [];
  const busy = new Set<number>();
  let [kills, lostRaces, looks] = [0, 0, 0];

  /** Gives a client its operations, and its successor the rest after a kill. Some operations are not repeated. */
  async function employ(at: number): Promise<void> {
    const share = drawn.filter((_operation, index) => index % clients.count === at);
    const waiting = new Map(share.map((operation) => [operation.id, operation]));
    clients.at(at).send({ model, operations: share });
    while (waiting.size > 0) {
      const reply = await clients
        .at(at)
        .receive<Answer>()
        .catch(() => undefined);
      if (reply !== undefined) {
        answers.set(reply.id, reply.answer);
        lostRaces += reply.lostRaces;
        waiting.delete(reply.id);
        void killSome();
        continue;
      }
      for (const id of [...waiting.keys()].filter(() => random() < 0.3)) {
        answers.set(id, "died");
        waiting.delete(id);
      }
      clients.replace(at).send({ model, operations: [...waiting.values()] });
    }
    busy.delete(at);
  }

  /** Numbers of answers after which a kill follows a little later, so that it hits clients at any point of their work. */
  const killAfter = Array.from({ length: killCount }, () => integerBelow(random, operations)).sort((a, b) => a - b);
  async function killSome(): Promise<void> {
    while (busy.size > 0 && killAfter.length > 0 && answers.size >= killAfter[0]!) {
      killAfter.shift();
      await sleep(random() * 30);
      const victim = [...busy][integerBelow(random, busy.size)];
      if (victim === undefined) return;
      clients.at(victim).kill();
      kills += 1;
    }
  }

  async function sweep(): Promise<void> {
    await sweepOutbox(connected.outboxIndex, {
      outboxOf: () => connected.outbox,
      clock: late,
      until: Number.POSITIVE_INFINITY,
      onError: (name, error) => violations.push(`the sweep of ${name} failed: ${error}`),
    });
  }

  /** Reads like a serving process. */
  async function look(): Promise<void> {
    let pointed = 0;
    while (busy.size > 0) {
      const seen = await connected.registry.snapshot(model).catch((error: unknown) => {
        // Deleting and restoring it is one of the operations.
        if (!hasCode(error, "MODEL_NOT_FOUND")) violations.push(`a reader failed: ${error}`);
      });
      if (seen) violations.push(...instantViolations(seen).map((violation) => `a reader: ${violation}`));
      const { revision = 0 } = (await connected.production.find(model)) ?? {};
      if (revision < pointed) violations.push(`the pointer went from revision ${pointed} to ${revision}`);
      pointed = revision;
      looks += 1;
      if (random() < sweeps) await sweep();
      await sleep(50);
    }
  }

  for (let at = 0; at < clients.count; at += 1) busy.add(at);
  await Promise.all([...[...busy].map(employ), look()]);
  await store.quiet();
  await sweep();

  const all = new Map([...prepared, ...drawn].map((operation) => [operation.id, operation]));
  const requested = { operations: all, prepared: prepared.length, answers };
  const verdict = await judge(store, connected, model, requested);
  store.bus.forget(model);
  const counts: Record<string, number> = {};
  for (const answer of answers.values()) counts[answer] = (counts[answer] ?? 0) + 1;
  const wrong = [...violations, ...verdict.violations].map((violation) => `${model}: ${violation}`);
  return { ...verdict, violations: wrong, kills, answers: counts, lostRaces, looks };
}
