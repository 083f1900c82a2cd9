import { isOpen, type Phase, type RunStatus } from "./run";

/** The status that people see: a run that waits for an approval, a check or a canary's test is not at work. */
export function displayedStatus(run: {
  readonly status: RunStatus;
  readonly phase?: Phase;
}): RunStatus | "awaiting approval" {
  return isOpen(run.status) && run.phase === "AwaitApproval" ? "awaiting approval" : run.status;
}
