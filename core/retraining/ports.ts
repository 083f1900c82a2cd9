import type { Page } from "../datasets/repository";
import type { CauseRecord } from "./cause";
import type { RetrainingRule, RuleState } from "./rule";

/** The port to a team's rules and their causes; docs/access-patterns.md, "Retraining". Reads that decide something are strongly consistent. */
export interface RetrainingRepository {
  /** Writes a rule's next revision: false where the rule is no longer at the one before (0: is not there, or deleted and at 0 by that). */
  save(rule: RetrainingRule, before: RetrainingRule | undefined): Promise<boolean>;
  /** Deleted ones, too: their history stays. */
  find(name: string): Promise<RuleState | undefined>;
  /** By name; without those deleted. */
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<RuleState>>;
  /** Names of the rules that a dataset's versions or a monitor's drift concern. */
  rulesOf(type: "dataset" | "drift", subject: string): Promise<readonly string[]>;
  /** The Scheduler has this revision. False where the rule has another one by now. */
  markScheduled(name: string, revision: number): Promise<boolean>;
  recordFailure(name: string, failure: NonNullable<RuleState["lastFailure"]>): Promise<void>;

  findCause(rule: string, id: string): Promise<CauseRecord | undefined>;
  /** Newest first. */
  listCauses(rule: string, query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<CauseRecord>>;
  /**
   * Takes a cause from one state to the next: false where it is not in `from` any more (undefined: was heard of before). With `start`, the
   * start is counted in the same write, which fails where the rule or its starts have changed since they were read.
   */
  putCause(record: CauseRecord, from: "waiting" | "started" | undefined, start?: RuleState): Promise<boolean>;
}

/** What the sweep goes through, of all teams; listings, eventually consistent. */
export interface RetrainingIndex {
  /** Rules that something may be due for without an event: those of datasets and schedules. */
  rules(): Promise<readonly { readonly team: string; readonly rule: string }[]>;
  openCauses(): Promise<readonly { readonly team: string; readonly rule: string; readonly id: string }[]>;
}

/** The port to the schedules of rules, which call the function `retrain` with a `ScheduleInput`. */
export interface RetrainingSchedules {
  /** Makes it or changes it into this. */
  put(rule: RetrainingRule): Promise<void>;
  /** Fine where there is none. */
  delete(team: string, rule: string): Promise<void>;
  /** All teams'. */
  list(): Promise<readonly { readonly team: string; readonly rule: string }[]>;
}

/** What a rule's schedule hands to the function. */
export interface ScheduleInput {
  readonly type: "retraining-schedule";
  readonly team: string;
  readonly rule: string;
  /** Filled in by the Scheduler: the time that the schedule named. */
  readonly scheduledTime: string;
}
