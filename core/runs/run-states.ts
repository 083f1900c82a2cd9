export const runStatuses = ["queued", "running", "completed", "failed", "killed"] as const;
export type RunStatus = (typeof runStatuses)[number];

/** The states of `state-machines/training-run.asl.json` that execute a run's work, in order. */
export const phases = [
  "ValidateDataset",
  "PrepareFeatures",
  "LaunchTraining",
  "Evaluate",
  "Register",
  "Gate",
  "AwaitApproval",
  "Promote",
] as const;
export type Phase = (typeof phases)[number];

export function isOpen(status: RunStatus): boolean {
  return status === "queued" || status === "running";
}
