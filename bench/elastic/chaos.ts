import { setTimeout as sleep } from "node:timers/promises";
import { integerBelow, oneOf, type Random } from "../../test/support/random";
import type { Crew } from "./crew";
import type { Disturbance, Trial } from "./disturbance";
import type { Worker } from "./worker";

/** Log messages at which a worker has just sealed, connected, begun, stored or ended something. */
const anyInstant = [
  "ready",
  "gang: sealed",
  "gang: entered",
  "generation started",
  "epoch finished",
  "checkpoint written",
  "completed",
  "gang: left",
];
/** Log messages during a re-formation. */
const reformation = ["gang: lost a member", "gang: sealed", "gang: entered", "generation lost", "generation started"];

/** Causes two to four faults. Each after the first usually meets the re-formation after the previous one. */
export async function faultsInARow(trial: Trial): Promise<Disturbance> {
  const { crew, random } = trial;
  const descriptions: string[] = [];
  let at = 0;
  let victims: readonly Worker[] = [];
  const faults = 2 + integerBelow(random, 3);
  for (let fault = 0; fault < faults; fault += 1) {
    const message = oneOf(random, fault === 0 || random() < 0.3 ? anyInstant : reformation);
    const count = fault === 0 ? 1 + integerBelow(random, 6) : 1;
    const speaker = await hears(crew, message, count);
    await sleep(oneOf(random, [0, 0, 2, 10, 40]));
    if (crew.live.length === 0) break;
    at = Date.now();
    const [what, hit] = await strike(trial, speaker, random);
    victims = [...victims, ...hit];
    descriptions.push(`${what} at "${message}" (${count}) of ${speaker?.workerIndex ?? "nobody"}`);
  }
  return { what: descriptions.join(", then "), at, victims };
}

/** Resolves with the worker that logs the message for the `count`-th time from now on, or with none after a while. */
async function hears(crew: Crew, message: string, count: number): Promise<Worker | undefined> {
  const times = (worker: Worker) => worker.messages.filter((said) => said === message).length;
  const all = () => crew.workers.reduce((sum, worker) => sum + times(worker), 0);
  const before = new Map(crew.workers.map((worker) => [worker, times(worker)]));
  const target = all() + count;
  await Promise.race([crew.until(() => all() >= target), sleep(8_000)]);
  return crew.workers.find((worker) => times(worker) > (before.get(worker) ?? 0));
}

async function strike({ crew, relay }: Trial, speaker: Worker | undefined, random: Random) {
  const victim = speaker && crew.live.includes(speaker) && random() < 0.6 ? speaker : oneOf(random, crew.live);
  const name = `worker ${victim.workerIndex}`;
  const kind = oneOf(random, ["kill", "kill", "kill", "stop", "drop", "store", "objects"] as const);
  switch (kind) {
    case "kill":
      victim.kill();
      await victim.ended;
      crew.startLater(victim.workerIndex, oneOf(random, [0, 200, 1_000]));
      return [`${name} killed`, [victim]] as const;
    case "stop": {
      const ms = oneOf(random, [300, 5_000, 11_000]);
      victim.stop();
      void sleep(ms).then(() => victim.wake());
      return [`${name} stopped for ${ms} ms`, [victim]] as const;
    }
    case "drop": {
      const other = oneOf(random, crew.live);
      for (const worker of [victim, other]) worker.disturbedAt = Date.now();
      relay.drop(victim.workerIndex, other.workerIndex);
      return [`link of ${name} and ${other.workerIndex} dropped`, [victim, other]] as const;
    }
    case "store":
    case "objects":
      relay.takeAway(kind === "store" ? "dynamodb" : "s3");
      void sleep(5_000).then(() => relay.takeAway(undefined));
      return [`${kind === "store" ? "DynamoDB" : "S3"} away for 5 s`, []] as const;
  }
}
