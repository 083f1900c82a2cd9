import type { ObservedTrial } from "./history";

import type { Point } from "./space";

/** Another trial's checkpoint, by reference: training starts with its weights and optimizer state. */
export interface TrialCheckpoint {
  readonly trial: number;
  readonly epoch: number;
}

export interface SchedulerTrial extends ObservedTrial {
  /** The bracket of successive halving to which the trial belongs. */
  readonly bracket?: number;
  /** The epoch at which the trial's current or last segment ends. A trial that reaches it below the maximum is paused. */
  readonly until: number;
  readonly from?: TrialCheckpoint;
}

/** The sampler chooses the parameters. */
export interface CreateAction {
  readonly type: "create";
  readonly bracket?: number;
  readonly until: number;
}

/** Continues a paused trial from its checkpoint; with `from` and `params`, from another's with other parameters. */
export interface ResumeAction {
  readonly type: "resume";
  readonly trial: number;
  readonly until: number;
  readonly from?: TrialCheckpoint;
  readonly params?: Point;
}

/** Ends a paused trial. Its checkpoint stays. */
export interface StopAction {
  readonly type: "stop";
  readonly trial: number;
  readonly reason: string;
}

export type Action = CreateAction | ResumeAction | StopAction;

export interface Budget {
  /** Number of trials that may start now, by creation or resumption. */
  readonly free: number;
  /** Number of trials that may still be created. */
  readonly mayCreate: number;
}

/** Decides from the history of a study alone, in order of trial numbers: it has no state, clock or randomness. */
export interface Scheduler {
  /**
   * Returns the trials to start or stop now, at most `free` starts. The caller applies all of them, and calls again after
   * every change. When nothing runs, no starts mean that the scheduler has finished.
   */
  next(trials: readonly SchedulerTrial[], budget: Budget): readonly Action[];
  /**
   * Returns what the sampler may see when it suggests the trial `number`. Synchronous schedulers show nothing that
   * depends on the order in which trials finish, so the suggestion does not either.
   * @param trials all trials with smaller numbers
   */
  visibleHistory(trials: readonly SchedulerTrial[], bracket?: number): readonly ObservedTrial[];
}
