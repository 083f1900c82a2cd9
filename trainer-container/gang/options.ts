import type { Clock } from "../../core/ports";
import { type CollectiveTiming, defaultCollectiveTiming } from "../collective/timing";
import type { GangLimits } from "./decide";
import type { GangEnvironment } from "./environment";
import type { GangStore } from "./store";
import { defaultRendezvousTiming, type RendezvousTiming } from "./timing";

export interface GangLogger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface GangTiming extends RendezvousTiming, CollectiveTiming {
  /** Between two looks at the store inside `enter`, while something may happen soon. */
  readonly pollMs: number;
  /** The same after a while in which nothing did. */
  readonly idlePollMs: number;
  /** Between rank 0's looks for joiners. */
  readonly patrolMs: number;
  /** A call to the store that takes longer has failed. */
  readonly storeCallMs: number;
  /** `enter` rejects after the store has failed for so long. */
  readonly storePatienceMs: number;
}

export const defaultGangTiming: GangTiming = {
  ...defaultRendezvousTiming,
  ...defaultCollectiveTiming,
  pollMs: 50,
  idlePollMs: 500,
  patrolMs: 1_000,
  storeCallMs: 10_000,
  storePatienceMs: 120_000,
};

export interface GangOptions {
  /** The same for all workers of a run, e.g. the run's id. */
  readonly gangId: string;
  /** `<job id>/<attempt>` or the like; no two live processes share one. */
  readonly memberId: string;
  /** `AWS_BATCH_JOB_ARRAY_INDEX` or node index. */
  readonly workerIndex: number;
  /** The first formation waits for so many, for a while; no generation is larger. */
  readonly expectedWorkers: number;
  readonly minWorkers: number;
  /** V. */
  readonly microshards: number;
  readonly store: GangStore;
  /** Wall time: leases are compared across hosts. */
  readonly clock: Clock;
  /** Address at which the others reach this process. */
  readonly host: string;
  /** Interface to listen on. Default: `host` where it is 127.0.0.1, else all. */
  readonly listenHost?: string;
  readonly logger?: GangLogger;
  readonly timing?: Partial<GangTiming>;
  /** Elements of a frame; all members must agree. Default 64 Ki. */
  readonly chunkElements?: number;
  /** Default: this process's timers and sockets. */
  readonly environment?: GangEnvironment;
}

export function limitsOf({ minWorkers, expectedWorkers, microshards }: GangOptions): GangLimits {
  const maxWorkers = Math.min(expectedWorkers, microshards);
  const rules: readonly [string, number, boolean, string][] = [
    ["microshards", microshards, Number.isInteger(microshards) && microshards >= 1, "an integer >= 1"],
    ["expectedWorkers", expectedWorkers, Number.isInteger(expectedWorkers) && expectedWorkers >= 1, "an integer >= 1"],
    [
      "minWorkers",
      minWorkers,
      Number.isInteger(minWorkers) && minWorkers >= 1 && minWorkers <= maxWorkers,
      `an integer from 1 to the most that can train (${maxWorkers})`,
    ],
  ];
  for (const [name, value, holds, rule] of rules) {
    if (!holds) throw new RangeError(`gang option ${name} is ${value}, but must be ${rule}`);
  }
  return { minWorkers, maxWorkers };
}
