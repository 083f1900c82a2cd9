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
  /** Interval of reads inside `enter` while a change is likely. */
  readonly pollMs: number;
  /** Interval of reads after a time without changes. */
  readonly idlePollMs: number;
  /** Interval of rank 0's checks for joiners. */
  readonly monitorMs: number;
  /** A call to the store that takes longer counts as failed. */
  readonly storeCallMs: number;
  /** `enter` rejects after the store has failed for this long. */
  readonly storePatienceMs: number;
}

export const defaultGangTiming: GangTiming = {
  ...defaultRendezvousTiming,
  ...defaultCollectiveTiming,
  pollMs: 50,
  idlePollMs: 500,
  monitorMs: 1_000,
  storeCallMs: 10_000,
  storePatienceMs: 120_000,
};

export interface GangOptions {
  /** The same for all workers of a run, e.g. the run's id. */
  readonly gangId: string;
  /** Unique among live processes, e.g. `<job id>/<attempt>`. */
  readonly memberId: string;
  /** `AWS_BATCH_JOB_ARRAY_INDEX` or node index. */
  readonly workerIndex: number;
  /** Number of workers that the first formation waits for, for a limited time. No generation is larger. */
  readonly expectedWorkers: number;
  readonly minWorkers: number;
  readonly microBatches: number;
  readonly store: GangStore;
  /** Wall time: leases are compared across hosts. */
  readonly clock: Clock;
  /** Address at which other workers reach this process. If it is not 127.0.0.1, the process listens on all interfaces. */
  readonly host: string;
  readonly logger?: GangLogger;
  /** Tests whether the run has ended, after a call of the store failed. Default: it has not. */
  readonly hasEnded?: () => Promise<boolean>;
  readonly timing?: Partial<GangTiming>;
  /** Elements of a frame; all members must agree. Default 64 Ki. */
  readonly chunkElements?: number;
  /** Default: this process's timers and sockets. */
  readonly environment?: GangEnvironment;
}

export function limitsOf({ minWorkers, expectedWorkers, microBatches }: GangOptions): GangLimits {
  const maxWorkers = Math.min(expectedWorkers, microBatches);
  const rules: readonly [string, number, boolean, string][] = [
    ["microBatches", microBatches, Number.isInteger(microBatches) && microBatches >= 1, "an integer >= 1"],
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
