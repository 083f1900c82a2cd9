import type { TrainingAttempt } from "./shapes";

export { isOpen, type Phase, phases, type RunStatus, runStatuses } from "./run-states";
export type {
  AttemptUsage,
  CodeReference,
  MachineRecord,
  MadeEnvironment,
  RecoveryRecord,
  Run,
  RunCause,
  RunDetails,
  RunFailure,
  RunOutcome,
  StepRecord,
  SubmittedEnvironment,
  TrainingAttempt,
  WorkerAttempt,
  WorkerRecord,
} from "./shapes";

/**
 * Returns whether an attempt's job is multi-node-parallel. Other jobs are arrays, which AWS Batch also runs on spot.
 */
export function isMultiNode({ market, workers }: Pick<TrainingAttempt, "market" | "workers">): boolean {
  return market === "on-demand" && workers > 1;
}
