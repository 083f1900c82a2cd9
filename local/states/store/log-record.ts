import type { Json, JsonObject } from "../json";
import type { StateType } from "../schema";

/*
 * The log of an execution determines its state. The state in memory results from it (`apply.ts`), and the history that
 * AWS shows is a projection of it (`api/history-event.ts`). A record contains every value of its expressions, so recorded
 * expressions are never evaluated again.
 */

export interface FailureDetails {
  readonly error?: string;
  readonly cause?: string;
}

export interface ScheduledTask {
  readonly resource: string;
  readonly parameters: Json;
  readonly token?: string;
  readonly timeoutSeconds?: number;
  readonly heartbeatSeconds?: number;
}

/** A fact before it has a position in the log. */
export type Fact =
  | { readonly type: "ExecutionStarted"; readonly input: Json }
  | { readonly type: "StateEntered"; readonly state: StateType; readonly name: string; readonly input: Json }
  | {
      readonly type: "StateExited";
      readonly state: StateType;
      readonly name: string;
      readonly output: Json;
      readonly assigned?: JsonObject;
      /** Undefined if the branch ends here. */
      readonly next?: string;
    }
  | { readonly type: "StateAborted"; readonly state: StateType }
  | {
      readonly type: "EvaluationFailed";
      readonly state: string;
      readonly location: string;
      readonly error: string;
      readonly cause: string;
    }
  | ({ readonly type: "TaskScheduled" } & ScheduledTask)
  | { readonly type: "TaskStarted"; readonly resource: string }
  | { readonly type: "TaskSubmitted"; readonly resource: string; readonly output: Json }
  | { readonly type: "TaskSucceeded"; readonly resource: string; readonly output: Json }
  | ({ readonly type: "TaskFailed"; readonly resource: string } & FailureDetails)
  | { readonly type: "TaskTimedOut"; readonly resource: string; readonly heartbeat: boolean }
  | { readonly type: "ParallelStarted"; readonly input: Json }
  | { readonly type: "ParallelSucceeded" }
  | { readonly type: "ParallelFailed" }
  | { readonly type: "MapStarted"; readonly items: readonly Json[]; readonly concurrency: number }
  | { readonly type: "MapIterationStarted"; readonly name: string; readonly index: number; readonly input: Json }
  | { readonly type: "MapIterationSucceeded"; readonly name: string; readonly index: number }
  | { readonly type: "MapIterationFailed"; readonly name: string; readonly index: number }
  | { readonly type: "MapIterationAborted"; readonly name: string; readonly index: number }
  | { readonly type: "MapSucceeded" }
  | { readonly type: "MapFailed" }
  | { readonly type: "ExecutionSucceeded"; readonly output: Json }
  | ({ readonly type: "ExecutionFailed" } & FailureDetails)
  | ({ readonly type: "ExecutionAborted" } & FailureDetails)
  | { readonly type: "ExecutionTimedOut" }
  | HiddenFact;

/** A decision that the service stores but AWS's history does not show. It gets no event id. */
export type HiddenFact =
  | { readonly type: "WaitArmed"; readonly until: number }
  | { readonly type: "RetryScheduled"; readonly retrier: number; readonly until: number }
  /** The state failed without its own event: a Fail state, a bad path, or no matching choice. */
  | ({ readonly type: "StateFailed" } & FailureDetails)
  /**
   * A branch or iteration failed finally. The other ones are dropped, and its failure becomes that of the Parallel or
   * Map.
   */
  | ({ readonly type: "BranchFailed"; readonly branch: string } & Failure);

const hidden: ReadonlySet<Fact["type"]> = new Set(["WaitArmed", "RetryScheduled", "StateFailed", "BranchFailed"]);
export const isHidden = (fact: Fact): boolean => hidden.has(fact.type);

export interface Failure extends FailureDetails {
  /** A missed heartbeat appears as States.Timeout, and `States.HeartbeatTimeout` also matches it. */
  readonly heartbeat?: boolean;
}

export type LogRecord = Fact & {
  readonly seq: number;
  /** The id of the history event, from 1. Hidden records have none. */
  readonly id?: number;
  readonly previous: number;
  readonly at: number;
  readonly thread: string;
};

export const maxEvents = 25_000;
