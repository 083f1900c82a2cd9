import { isoTime } from "../clock";
import type { OperationalMetric } from "../metering/metrics";
import type { Executions } from "../runs/ports";
import type { Run, RunOutcome } from "../runs/run";
import type { RunConclusion } from "../runs/run-repository";
import { windUp } from "./clean-up";
import type { EndAttemptDependencies } from "./end-attempt";

const endOf: Readonly<Record<RunConclusion["status"], OperationalMetric>> = {
  completed: "RunsCompleted",
  failed: "RunsFailed",
  killed: "RunsKilled",
};

const decisionOf: Readonly<Record<RunOutcome["decision"], OperationalMetric>> = {
  promoted: "ModelsPromoted",
  "refused-by-gate": "ModelsRefusedByGate",
  rejected: "ModelsRejected",
};

/**
 * Ends a run: its row first, so that no step goes on, then what it left at work. The first end stands, and is the one that is counted. Dying
 * after the row leaves it in the list of open runs, where `reconcile` finds it.
 *
 * @param executions as for `windUp`
 */
export async function endRun(
  dependencies: EndAttemptDependencies,
  run: Run,
  end: Omit<RunConclusion, "at">,
  executions?: Executions,
): Promise<void> {
  const { runs, clock, meter } = dependencies;
  const { runId, team } = run;
  if (await runs.conclude(runId, { ...end, at: isoTime(clock) })) {
    meter.emit(
      {
        [endOf[end.status]]: 1,
        ...(end.outcome ? { [decisionOf[end.outcome.decision]]: 1 } : {}),
        RunDuration: (clock.now() - Date.parse(run.createdAt)) / 1000,
      },
      team,
      { runId },
    );
  }
  await windUp(dependencies, runId, end.failure?.message ?? `run ${runId} is ${end.status}`, executions);
}

/** What a run's execution left behind when it was stopped, timed out, or failed before it could say so itself. */
export async function concludeInterrupted(
  dependencies: EndAttemptDependencies,
  runId: string,
  status: "ABORTED" | "FAILED" | "TIMED_OUT",
  error: string | undefined,
  cause: string | undefined,
): Promise<void> {
  const run = await dependencies.runs.find(runId);
  if (!run) return;
  await endRun(dependencies, run, {
    status: status === "ABORTED" ? "killed" : "failed",
    failure: {
      code: error ?? `EXECUTION_${status}`,
      message: cause ?? `the run's execution is ${status}`,
      phase: run.phase,
    },
  });
}
