import type { Page } from "../datasets/repository";
import type { CauseRecord } from "./cause";
import type { Trigger, TriggerState } from "./trigger";

/**
 * The port to a team's triggers and their causes; docs/access-patterns.md, "Triggers". Reads that decide something are
 * strongly consistent.
 */
export interface TriggerRepository {
  /**
   * Writes the next revision, with a webhook's new secret if one is given. Returns false if the stored revision is not
   * that of `before` (`undefined`: no trigger was stored).
   */
  save(trigger: Trigger, before: Trigger | undefined, secret?: string): Promise<boolean>;
  /** Returns the trigger, also if it is deleted: its history stays. */
  find(name: string): Promise<TriggerState | undefined>;
  findSecret(name: string): Promise<string | undefined>;
  /** Lists triggers by name, without deleted ones. */
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<TriggerState>>;
  triggersOn(type: Trigger["on"]["type"], subject: string): Promise<readonly string[]>;
  /** Records that the Scheduler has this revision; returns false if the trigger has another revision in the meantime. */
  markScheduled(name: string, revision: number): Promise<boolean>;
  recordFailure(name: string, failure: NonNullable<TriggerState["lastFailure"]>): Promise<void>;

  findCause(trigger: string, id: string): Promise<CauseRecord | undefined>;
  /** Newest first. */
  listCauses(
    trigger: string,
    query: { readonly limit: number; readonly nextToken?: string },
  ): Promise<Page<CauseRecord>>;
  /** The causes that wait or were started, by time. */
  openCauses(trigger: string): Promise<readonly CauseRecord[]>;
  /**
   * Moves a cause from one state to the next; returns false if it is not in state `from` (`undefined`: no record). With
   * `start`, the same write counts the start and replaces the list of open causes, and fails if the trigger or its
   * starts have changed since they were read.
   */
  putCause(record: CauseRecord, from: "waiting" | "started" | undefined, start?: TriggerState): Promise<boolean>;
}

/** The triggers and causes of all teams that the sweep visits. Listings are eventually consistent. */
export interface TriggerIndex {
  /** Lists the triggers that may be due without an event: those for datasets and schedules. */
  triggers(): Promise<readonly { readonly team: string; readonly trigger: string }[]>;
  /** The oldest causes first. */
  openCauses(): Promise<readonly { readonly team: string; readonly trigger: string; readonly id: string }[]>;
}

export interface TriggerSchedules {
  put(trigger: Trigger): Promise<void>;
  /** Idempotent. */
  delete(team: string, trigger: string): Promise<void>;
  list(): Promise<readonly { readonly team: string; readonly trigger: string }[]>;
}

export interface ScheduleInput {
  readonly type: "trigger-schedule";
  readonly team: string;
  readonly trigger: string;
  /** The scheduled time; filled in by the Scheduler. */
  readonly scheduledTime: string;
}
