import { setTimeout as sleep } from "node:timers/promises";
import { meter } from "../../adapters/cloudwatch/emf-meter";
import { reclamationMemory } from "../../adapters/reclamation/stored-cycle";
import { reclamationObjects } from "../../adapters/reclamation/stored-objects";
import { reclamationRows } from "../../adapters/reclamation/stored-rows";
import type { CycleState } from "../../core/reclamation/ports";
import { reclaim } from "../../core/reclamation/reclaim";
import { functionHandler } from "../function-handler";

const dayMs = 24 * 60 * 60 * 1000;
/** The working time of a scheduled invocation. The next one continues. */
const workMs = 10 * 60 * 1000;
/** The time that is reserved for the last part of the work and for saving it. */
const reserveMs = 60_000;
const requestsPerSecond = 100;

/** The request of `ringmaster gc`. A schedule sends EventBridge's event, which has none of these fields. */
interface ReclaimEvent {
  readonly command?: {
    readonly dryRun?: boolean;
    /** The working time of this invocation. */
    readonly seconds?: number;
    /** Begins a cycle if none is in progress, although the last one is less than a day old. */
    readonly begin?: boolean;
  };
}

export const handler = functionHandler(
  {
    shared: {
      objects: reclamationObjects("collect"),
      rows: reclamationRows("collect"),
      memory: reclamationMemory("keep"),
      meter: meter(),
    },
    team: {},
  },
  async ({ clock, meter, logger, memory, ...ports }, { command }: ReclaimEvent, context): Promise<CycleState> => {
    const { dryRun = false, seconds = workMs / 1000, begin = false } = command ?? {};
    const beganAt = clock.now();
    const left = Math.min(seconds * 1000, context.getRemainingTimeInMillis() - reserveMs);
    const state = await reclaim(
      { ...ports, clock, memory: memory(dryRun ? "dry-run" : "cycle") },
      {
        until: beganAt + left,
        everyMs: begin ? 0 : dayMs,
        dryRun,
        // A person waits for a command.
        ...(command ? {} : { pace: (requests: number) => sleep((requests / requestsPerSecond) * 1000) }),
      },
    );
    const { phase, cycle, deleted, unreferenced, teams, finishedAt = 0 } = state;
    logger.log("info", "reclamation", { phase, cycle, deleted, unreferenced, dryRun });
    if (phase === "done" && !dryRun) {
      for (const [team, { bytes }] of Object.entries(teams)) meter.emit({ StoredBytes: bytes }, team);
      if (finishedAt >= beganAt) meter.emit({ ReclaimedBytes: deleted.bytes });
    }
    return state;
  },
);
