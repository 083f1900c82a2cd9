import { BoundedMap } from "../../bounded-map";
import type { Clock } from "../../ports";
import type { RunRecords } from "../run-records";
import type { RunRecord } from "../shapes";

/** Runs that were active recently. A request that logs to such a run need not read it. */
interface LiveRuns {
  /** Returns whether this process found the run active within the last second and has not deleted it since. */
  isLive(runId: string): boolean;
  note(record: Pick<RunRecord, "runId" | "lifecycle">): void;
}

/** Time for which another process's deletion may be missed. */
const trustedMs = 1_000;
const maxRemembered = 50_000;

export function createLiveRuns(clock: Clock): LiveRuns {
  const until = new BoundedMap<string, number>(maxRemembered);
  return {
    isLive: (runId) => (until.get(runId) ?? 0) > clock.now(),
    note({ runId, lifecycle }) {
      if (lifecycle !== "active") {
        until.delete(runId);
        return;
      }
      until.set(runId, clock.now() + trustedMs);
    },
  };
}

/** Wraps records so that runs that are found or changed through them are noted as active. */
export function noteLiveRuns(records: RunRecords, live: LiveRuns): RunRecords {
  return {
    ...records,
    async create(record, options) {
      const answer = await records.create(record, options);
      live.note(answer.record);
      return answer;
    },
    async find(runId) {
      const record = await records.find(runId);
      if (record) live.note(record);
      return record;
    },
    async change(runId, transition) {
      const record = await records.change(runId, transition);
      live.note(record);
      return record;
    },
  };
}
