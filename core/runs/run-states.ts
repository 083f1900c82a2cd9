import type * as z from "zod";

/** `paused`: its training stopped at the end of an epoch and continues when the run is resumed. */
export const runStatuses = ["queued", "running", "paused", "completed", "failed", "killed"] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The states of `state-machines/definition.ts` that execute a run's work, in order. */
export const phases = ["ValidateDataset", "PrepareFeatures", "LaunchTraining", "Evaluate", "Register", "Gate"] as const;
export type Phase = (typeof phases)[number];

/** Tests whether a run is at work. A paused run is not. */
export function isOpen(status: RunStatus): boolean {
  return status === "queued" || status === "running";
}

export interface RunStepKind<Output> {
  readonly step: Phase;
  readonly output: z.ZodType<Output>;
}
