import { RunEndedError, RunNotFoundError } from "../runs/errors";
import type { Executions } from "../runs/ports";
import { isOpen } from "../runs/run-states";
import type { Run } from "../runs/shapes";
import { closeRun } from "./close-run";
import type { CompleteAttemptDependencies } from "./complete-attempt";

export interface CancelDependencies extends CompleteAttemptDependencies {
  readonly executions: Executions;
}

/**
 * Cancels a run at a person's request: first its row, so that no step continues, then its execution and its job.
 * Idempotent. A run that ended otherwise is refused. If the process dies after the row, the killed run stays in the
 * list of open ones, and `reconcile` cleans it up.
 */
export async function cancelRun(dependencies: CancelDependencies, runId: string, actor: string): Promise<Run> {
  const { runs, executions } = dependencies;
  const run = await runs.find(runId);
  if (!run) throw new RunNotFoundError(runId, "training");
  if (!isOpen(run.status) && run.status !== "killed" && run.status !== "paused")
    throw new RunEndedError(runId, run.status);
  const message = `cancelled by ${actor}`;
  const failure = { code: "CANCELLED", message, phase: run.phase };
  await closeRun(dependencies, run, { status: "killed", failure }, executions);
  // The run may have ended at the same time; the first end stays.
  const now = (await runs.find(runId)) ?? run;
  if (now.status !== "killed") throw new RunEndedError(runId, now.status);
  return now;
}
