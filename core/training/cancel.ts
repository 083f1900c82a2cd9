import { RunEndedError, RunNotFoundError } from "../runs/errors";
import type { Executions } from "../runs/ports";
import { isOpen, type Run } from "../runs/run";
import type { EndAttemptDependencies } from "./end-attempt";
import { endRun } from "./end-run";

export interface CancelDependencies extends EndAttemptDependencies {
  readonly executions: Executions;
}

/**
 * Ends a run on a person's word. Its row first, so that no step goes on; then its execution and its job. Cancelling twice is cancelling
 * once; a run that ended otherwise is refused. Dying after the row leaves a killed run in the list of open ones, which `reconcile` winds up.
 */
export async function cancelRun(dependencies: CancelDependencies, runId: string, actor: string): Promise<Run> {
  const { runs, executions } = dependencies;
  const run = await runs.find(runId);
  if (!run) throw new RunNotFoundError(runId, "training");
  if (!isOpen(run.status) && run.status !== "killed") throw new RunEndedError(runId, run.status);
  const message = `cancelled by ${actor}`;
  const failure = { code: "CANCELLED", message, phase: run.phase };
  await endRun(dependencies, run, { status: "killed", failure }, executions);
  // It may have come to its end in the same moment: the first end stands.
  const now = (await runs.find(runId)) ?? run;
  if (now.status !== "killed") throw new RunEndedError(runId, now.status);
  return now;
}
