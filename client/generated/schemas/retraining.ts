// Made from docs/api/openapi.json by `npm run api`. Do not edit.

import type { CodeReference, Instant, Job, JobInput } from "./shared";

export interface DisableRequest {
  /** Why, for the record. */
  readonly reason?: string;
}

/** What happened. */
export type RetrainingCause =
  | {
      readonly type: "dataset";
      readonly at: Instant;
      readonly dataset: string;
      readonly version: number;
    }
  | {
      readonly type: "schedule";
      readonly at: Instant;
    }
  | {
      readonly type: "drift";
      readonly at: Instant;
      readonly monitor: string;
      readonly windowEnd: Instant;
      readonly severity: "warning" | "critical";
    }
  | {
      readonly type: "manual";
      readonly at: Instant;
      readonly by: string;
      readonly personId?: string;
      readonly key: string;
    };

export interface RetrainingCausePage {
  readonly items: readonly RetrainingCauseRecord[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** What became of a cause. */
export interface RetrainingCauseRecord {
  readonly rule: string;
  /** The same however many events told of it: `dataset:digits@2`. */
  readonly id: string;
  readonly cause: RetrainingCause;
  readonly state: "waiting" | "started" | "submitted" | "skipped" | "failed";
  /** Why it waits or was skipped. */
  readonly reason?: string;
  readonly failure?: {
    readonly code: string;
    readonly message: string;
  };
  readonly runId?: string;
  readonly heardAt: Instant;
  readonly changedAt: Instant;
}

export interface RetrainingRule {
  readonly name: string;
  readonly trigger: RetrainingTrigger;
  readonly job: Job;
  readonly code: CodeReference;
  readonly cooldownMinutes: number;
  readonly maxConcurrentRuns?: number;
  readonly team: string;
  readonly revision: number;
  readonly enabled: boolean;
  readonly pausedReason?: string;
  /** What happened before is no cause. */
  readonly since: Instant;
  readonly createdBy: string;
  /** Ids of all who have written the definition: they count as submitters of its runs. */
  readonly authors?: readonly string[];
  /** Who made the last change. */
  readonly updatedBy?: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly deletedAt?: Instant;
}

export interface RetrainingRuleAnswer {
  readonly rule: RetrainingRule;
}

export interface RetrainingRuleCreation {
  readonly created: boolean;
  readonly rule: RetrainingRule;
}

/** When to retrain, and by which job. The job's dataset is without a version. */
export interface RetrainingRuleDefinition {
  readonly name: string;
  readonly trigger:
    | {
        readonly type: "dataset";
        readonly dataset: string;
      }
    | {
        readonly type: "schedule";
        readonly expression: string;
        readonly timeZone?: string;
      }
    | {
        readonly type: "drift";
        readonly monitor: string;
        readonly severity?: "warning" | "critical";
      };
  readonly job: JobInput;
  readonly code?: {
    readonly repository?: string;
    readonly branch?: string;
    readonly commit?: string;
    readonly dirty?: boolean;
    readonly diffSha256?: string;
    readonly moduleSha256?: string;
  };
  readonly cooldownMinutes?: number;
  readonly maxConcurrentRuns?: number;
}

export interface RetrainingRuleDetails {
  readonly state: RetrainingRuleState;
  /** When its cron expression fires next. */
  readonly next: readonly Instant[];
}

export interface RetrainingRulePage {
  readonly items: readonly RetrainingRuleState[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** A rule, and what became of it. */
export interface RetrainingRuleState {
  readonly rule: RetrainingRule;
  /** Runs begun so far. */
  readonly starts: number;
  readonly lastStartedAt?: Instant;
  /** The revision that the Scheduler has. */
  readonly scheduledRevision?: number;
  /** The latest cause that no run could be made of. */
  readonly lastFailure?: {
    readonly cause: string;
    readonly code: string;
    readonly message: string;
    readonly at: Instant;
  };
}

export interface RetrainingRunAnswer {
  readonly cause: RetrainingCauseRecord;
}

/** When to retrain: a new version of a dataset, a time, or drift that a monitor finds. */
export type RetrainingTrigger =
  | {
      readonly type: "dataset";
      readonly dataset: string;
    }
  | {
      readonly type: "schedule";
      readonly expression: string;
      readonly timeZone: string;
    }
  | {
      readonly type: "drift";
      readonly monitor: string;
      readonly severity: "warning" | "critical";
    };
