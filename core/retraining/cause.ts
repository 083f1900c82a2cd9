import { sha256 } from "../digest";
import type { RunCause } from "../training/run";
import type { Severity } from "./rule";

/** Something that happened, once, whatever the number of events that tell of it. Times are ISO 8601 in UTC with milliseconds. */
export type Cause =
  | { readonly type: "dataset"; readonly at: string; readonly dataset: string; readonly version: number }
  /** `at` is the time that the schedule named, not that of the delivery. */
  | { readonly type: "schedule"; readonly at: string }
  /** `windowEnd` is where the window ends in which the monitor found drift. */
  | {
      readonly type: "drift";
      readonly at: string;
      readonly monitor: string;
      readonly windowEnd: string;
      readonly severity: Severity;
    }
  /** A person's word; `key` tells one from its repetition. */
  | {
      readonly type: "manual";
      readonly at: string;
      readonly by: string;
      readonly personId?: string;
      readonly key: string;
    };

/** The cause's own name within a rule, made from what happened and from nothing that differs between two events of it. */
export function causeIdOf(cause: Cause): string {
  switch (cause.type) {
    case "dataset":
      return `dataset:${cause.dataset}@${cause.version}`;
    case "schedule":
      return `schedule:${cause.at}`;
    case "drift":
      return `drift:${cause.monitor}@${cause.windowEnd}`;
    case "manual":
      return `manual:${sha256(cause.key).slice(0, 16)}`;
  }
}

/** From it the run's id is made: a second submission for the same cause finds the first one's run. */
export function idempotencyKeyOf(rule: string, causeId: string): string {
  return `retraining ${rule} ${causeId}`;
}

/** What the run says of it. */
export function runCauseOf(rule: string, cause: Cause): RunCause {
  return { rule, type: cause.type, id: causeIdOf(cause), at: cause.at };
}

/** What became of a cause. `waiting` and `started` are open: something is still to be done. */
export interface CauseRecord {
  readonly rule: string;
  readonly id: string;
  readonly cause: Cause;
  readonly state: "waiting" | "started" | "submitted" | "skipped" | "failed";
  /** Why it waits or was skipped. */
  readonly reason?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly runId?: string;
  /** When the platform first heard of it, and when this state was reached. */
  readonly heardAt: string;
  readonly changedAt: string;
}

export function isOpenCause({ state }: Pick<CauseRecord, "state">): boolean {
  return state === "waiting" || state === "started";
}
