import type { Page } from "../datasets/repository";
import type { CauseRecord } from "./cause";
import type { RetrainingRule, RuleState } from "./rule";

/**
 * The port to a team's rules and their causes; docs/access-patterns.md, "Retraining". Reads that decide something are
 * strongly consistent.
 */
export interface RetrainingRepository {
  /** Writes the next revision; false if the stored one is not that of `before` (`undefined`: no rule was stored). */
  save(rule: RetrainingRule, before: RetrainingRule | undefined): Promise<boolean>;
  /** Returns the rule, also if it is deleted: its history stays. */
  find(name: string): Promise<RuleState | undefined>;
  /** Lists rules by name, without deleted ones. */
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<RuleState>>;
  rulesOf(type: "dataset" | "drift", subject: string): Promise<readonly string[]>;
  /** Records that the Scheduler has this revision; returns false if the rule has another revision in the meantime. */
  markScheduled(name: string, revision: number): Promise<boolean>;
  recordFailure(name: string, failure: NonNullable<RuleState["lastFailure"]>): Promise<void>;

  findCause(rule: string, id: string): Promise<CauseRecord | undefined>;
  listCauses(rule: string, query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<CauseRecord>>;
  /**
   * Moves a cause from one state to the next; returns false if it is not in state `from` (`undefined`: no record). With
   * `start`, the same write counts the start, and fails if the rule or its starts have changed since they were read.
   */
  putCause(record: CauseRecord, from: "waiting" | "started" | undefined, start?: RuleState): Promise<boolean>;
}

/** The rules and causes of all teams that the sweep visits. Listings are eventually consistent. */
export interface RetrainingIndex {
  /** Lists the rules that may be due without an event: those for datasets and schedules. */
  rules(): Promise<readonly { readonly team: string; readonly rule: string }[]>;
  openCauses(): Promise<readonly { readonly team: string; readonly rule: string; readonly id: string }[]>;
}

export interface RetrainingSchedules {
  put(rule: RetrainingRule): Promise<void>;
  /** Idempotent. */
  delete(team: string, rule: string): Promise<void>;
  list(): Promise<readonly { readonly team: string; readonly rule: string }[]>;
}

export interface ScheduleInput {
  readonly type: "retraining-schedule";
  readonly team: string;
  readonly rule: string;
  /** The scheduled time; filled in by the Scheduler. */
  readonly scheduledTime: string;
}
