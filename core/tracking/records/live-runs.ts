import { BoundedMap } from "../../bounded-map";
import type { Clock } from "../../ports";
import type { RunRecord } from "../run-record";
import type { RunRecords } from "../run-records";

/** Which runs were found active a moment ago: what logs to them need not read them to know. */
export interface LiveRuns {
  /** Found active, by this process, within the last second; what it deleted itself is not. */
  isLive(runId: string): boolean;
  note(record: Pick<RunRecord, "runId" | "lifecycle">): void;
}

/** Of other processes' deletions a point may not know for as long. */
const trustedMs = 1_000;
const mostRemembered = 50_000;

export function createLiveRuns(clock: Clock): LiveRuns {
  const until = new BoundedMap<string, number>(mostRemembered);
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

/** The same records; what is found or changed through them is noted. */
export function notingRecords(records: RunRecords, live: LiveRuns): RunRecords {
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
