import * as z from "zod";
import type { Problem } from "../errors";
import type { ObservedTrial } from "./history";
import { mappingRule, settingsOf } from "./settings";
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

/**
 * Continues a paused trial from its own checkpoint. With `from` and `params`, a paused or failed trial continues from
 * another trial's checkpoint with other parameters.
 */
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
   *
   * @param trials all trials with smaller numbers
   */
  visibleHistory(trials: readonly SchedulerTrial[], bracket?: number): readonly ObservedTrial[];
}

const epochs = z.int().min(1).max(1_000_000);
const halving = { minEpochs: epochs.default(1), factor: z.int().min(2).max(100).default(3) };

export const schedulerSettingsSchema = z.discriminatedUnion(
  "type",
  [
    settingsOf("none", {}),
    settingsOf("median", {
      /** Epochs between two comparisons. */
      interval: epochs.default(1),
      /** Epochs that every trial trains before its first comparison. */
      warmUpEpochs: z.int().min(0).max(1_000_000).default(0),
      /** Number of other trials that must have reached an epoch before any trial is stopped there. */
      minTrials: z.int().min(1).max(100_000).default(5),
    }),
    settingsOf("successive-halving", { ...halving }),
    settingsOf("asha", { ...halving }),
    settingsOf("hyperband", { ...halving }),
    settingsOf("population", {
      population: z.int().min(2).max(1_000).default(8),
      /** Epochs between two exploitations. */
      interval: epochs.default(1),
      /** Share of the population that is replaced, and share that it is replaced from. */
      fraction: z.number().gt(0).max(0.5).default(0.25),
      /** Probability that a parameter is drawn again instead of perturbed. */
      resample: z.number().min(0).max(1).default(0.25),
      seed: z.int().min(0).max(4_294_967_295).default(0),
    }),
  ],
  mappingRule("asha"),
);

export type SchedulerSettings = Readonly<z.output<typeof schedulerSettingsSchema>>;

/** Returns the rules that the settings break for trials of this length. */
export function problemsOfScheduler(settings: SchedulerSettings, maxEpochs: number): readonly Problem[] {
  const length = settings.type === "median" || settings.type === "population" ? "interval" : "minEpochs";
  const value = (settings as Readonly<Record<string, unknown>>)[length];
  if (typeof value !== "number" || value <= maxEpochs) return [];
  const rule = `must be at most the epochs of a trial, which hyperparameters.epochs of the job sets to ${maxEpochs}`;
  return [{ path: `scheduler.${length}`, value, rule }];
}
