import { setTimeout as sleep } from "node:timers/promises";
import { integerBelow, oneOf, someOf } from "../../test/support/random";
import { faultsInARow } from "./chaos";
import type { Crew } from "./crew";
import type { Disturbance, Trial } from "./disturbance";
import type { Job } from "./task";
import { totalSteps } from "./task";
import { anyTimePoint, reached, type TimePoint, timePointOfTraining, timePointText } from "./time-point";
import type { Worker } from "./worker";

export interface Scenario {
  readonly title: string;
  readonly trials: number;
  /** Steps that may be repeated although no survivor had finished them: those since the last checkpoint. */
  readonly repeats?: "an interval";
  readonly relayed?: boolean;
  readonly clockErrorMs?: number;
  readonly onRequest?: boolean;
  started?(job: Job): number;
  disturb(trial: Trial): Promise<Disturbance>;
}

export const scenarioNames = ["kill", "stop", "cut", "join", "two", "all", "big", "chaos"] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  kill: {
    title: "one of three killed at any time",
    trials: 50,
    async disturb(trial) {
      const timePoint = anyTimePoint(trial.random, trial.life, totalSteps(trial.job));
      return killSome(trial, timePoint, 1, oneOf(trial.random, ["no replacement", "a replacement"]));
    },
  },
  stop: {
    title: "one of three stopped (SIGSTOP)",
    trials: 10,
    async disturb({ crew, random, life, job }) {
      const timePoint = timePointOfTraining(random, life.trainMs, totalSteps(job), 0.8);
      await reached(crew, timePoint);
      const victim = oneOf(random, crew.live);
      const wakesAfterMs = oneOf(random, [1_000, 9_900, 10_500, 12_000, undefined]);
      victim.stop();
      const at = Date.now();
      const text = wakesAfterMs === undefined ? "permanently" : `for ${wakesAfterMs} ms`;
      void wakeLater(crew, victim, wakesAfterMs);
      return {
        what: `worker ${victim.workerIndex} stopped ${text} at ${timePointText(timePoint)}`,
        at,
        victims: [victim],
      };
    },
  },
  cut: {
    title: "a link of three cut",
    trials: 10,
    relayed: true,
    async disturb({ crew, relay, random, life, job, index }) {
      const timePoint = timePointOfTraining(random, life.trainMs, totalSteps(job), 0.8);
      await reached(crew, timePoint);
      const [one, other] = someOf(random, crew.live, 2);
      const kind = (["connections dropped", "one way silent", "both ways silent", "isolated"] as const)[index % 4]!;
      const healMs = oneOf(random, [3_000, 12_000, 20_000]);
      const at = Date.now();
      if (kind === "connections dropped") {
        relay.drop(one!.workerIndex, other!.workerIndex);
      } else {
        const blocked = (from: number, to: number) =>
          kind === "isolated"
            ? from === one!.workerIndex || to === one!.workerIndex
            : (from === one!.workerIndex && to === other!.workerIndex) ||
              (kind === "both ways silent" && from === other!.workerIndex && to === one!.workerIndex);
        relay.block(blocked);
        void sleep(healMs).then(() => relay.block(() => false));
      }
      for (const worker of [one!, other!]) worker.disturbedAt = at;
      const text = kind === "connections dropped" ? kind : `${kind} for ${healMs} ms`;
      return {
        what: `workers ${one!.workerIndex} and ${other!.workerIndex}: ${text}, at ${timePointText(timePoint)}`,
        at,
        victims: [one!, other!],
      };
    },
  },
  join: {
    title: "a third joins two",
    trials: 10,
    started: ({ workers }) => workers - 1,
    async disturb({ crew, random, life, job }) {
      const timePoint = anyTimePoint(random, life, totalSteps(job));
      await reached(crew, timePoint);
      const joiner = crew.start(job.workers - 1);
      await crew.until(() => joiner.starts.length > 0 || !joiner.running);
      // The cost is the pause of the other workers.
      const { at, generation } = joiner.starts[0] ?? { at: Date.now(), generation: 0 };
      const before = crew.workers
        .filter((worker) => worker !== joiner)
        .flatMap(({ steps }) => steps.filter((step) => step.generation < generation).map((step) => step.at));
      return {
        what: `worker ${joiner.workerIndex} started at ${timePointText(timePoint)}`,
        at: generation === 0 ? at : Math.max(0, ...before),
        victims: [],
      };
    },
  },
  two: {
    title: "two of three killed at once",
    trials: 10,
    async disturb(trial) {
      const timePoint = anyTimePoint(trial.random, trial.life, totalSteps(trial.job));
      return killSome(trial, timePoint, 2, oneOf(trial.random, ["no replacement", "a replacement"]));
    },
  },
  all: {
    title: "all three killed at once",
    trials: 10,
    repeats: "an interval",
    async disturb(trial) {
      const timePoint = timePointOfTraining(trial.random, trial.life.trainMs, totalSteps(trial.job));
      return killSome(trial, timePoint, trial.job.workers, "a replacement");
    },
  },
  big: {
    title: "8 of 32 killed at once",
    trials: 2,
    async disturb(trial) {
      const { crew, random, job, index } = trial;
      await crew.until(() => crew.workers.some(({ starts }) => starts.at(-1)?.worldSize === job.workers));
      const timePoint = { afterStep: crew.finishedSteps + 10 + integerBelow(random, 10), plusMs: random() * 20 };
      return killSome(trial, timePoint, job.workers / 4, index % 2 === 0 ? "no replacement" : "a replacement");
    },
  },
  chaos: {
    title: "faults in a row, at the protocol's own instants, clocks up to 5 s wrong",
    trials: 20,
    repeats: "an interval",
    relayed: true,
    clockErrorMs: 5_000,
    onRequest: true,
    disturb: faultsInARow,
  },
};

async function killSome(
  { crew, random }: Trial,
  timePoint: TimePoint,
  count: number,
  then: "no replacement" | "a replacement",
): Promise<Disturbance> {
  await reached(crew, timePoint);
  const victims = someOf(random, crew.live, count);
  for (const victim of victims) victim.kill();
  const at = Date.now();
  const names = victims.map(({ workerIndex }) => workerIndex).join(", ");
  await Promise.all(victims.map(({ ended }) => ended));
  if (then === "a replacement") for (const { workerIndex } of victims) crew.start(workerIndex);
  return { what: `${names || "nobody"} killed at ${timePointText(timePoint)}, ${then}`, at, victims };
}

/** Wakes a stopped worker. One that never wakes is killed when the others are done, as Batch would finally do. */
async function wakeLater(crew: Crew, victim: Worker, afterMs: number | undefined): Promise<void> {
  if (afterMs !== undefined) {
    await sleep(afterMs);
    victim.wake();
    return;
  }
  await crew.until(() => crew.live.every((worker) => worker === victim));
  victim.kill();
}
