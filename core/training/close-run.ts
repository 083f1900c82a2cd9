import type { OperationalMetric } from "../metering/metrics";
import { isoTime } from "../ports";
import type { Executions, RunSegment } from "../runs/ports";
import type { RunConclusion } from "../runs/run-repository";
import type { Run, RunOutcome } from "../runs/shapes";
import { cleanUpRun } from "./clean-up";
import type { CompleteAttemptDependencies } from "./complete-attempt";

const endOf: Readonly<Record<RunConclusion["status"], OperationalMetric>> = {
  completed: "RunsCompleted",
  failed: "RunsFailed",
  killed: "RunsKilled",
};

const decisionOf: Readonly<Record<RunOutcome["decision"], OperationalMetric | undefined>> = {
  promoted: "ModelsPromoted",
  "refused-by-gate": "ModelsRefusedByGate",
  rejected: "ModelsRejected",
  registered: undefined,
  "not-registered": undefined,
};

/**
 * Closes a run: first its row, so that no step continues, then its remaining work. The first end stays and is counted.
 * If the process dies after the row, the run stays in the list of open runs, where `reconcile` finds it.
 *
 * @param executions as for `cleanUpRun`
 */
export async function closeRun(
  dependencies: CompleteAttemptDependencies,
  run: Run,
  end: Omit<RunConclusion, "at">,
  executions?: Executions,
): Promise<void> {
  const { runs, clock, meter } = dependencies;
  const { runId, team } = run;
  if (await runs.close(runId, { ...end, at: isoTime(clock) })) {
    const decision = end.outcome && decisionOf[end.outcome.decision];
    meter.emit(
      {
        [endOf[end.status]]: 1,
        ...(decision ? { [decision]: 1 } : {}),
        RunDuration: (clock.now() - Date.parse(run.createdAt)) / 1000,
      },
      team,
      { runId },
    );
  }
  await cleanUpRun(dependencies, runId, end.failure?.message ?? `run ${runId} is ${end.status}`, executions);
}

/** Closes a run whose execution was stopped, timed out, or failed before its own conclusion. */
export async function closeInterruptedRun(
  dependencies: CompleteAttemptDependencies,
  { runId, segment }: RunSegment,
  status: "ABORTED" | "FAILED" | "TIMED_OUT",
  error: string | undefined,
  cause: string | undefined,
): Promise<void> {
  const run = await dependencies.runs.find(runId);
  // The execution of an earlier segment says nothing about the run.
  if (!run || run.status === "paused" || (run.segment ?? 0) !== (segment ?? 0)) return;
  await closeRun(dependencies, run, {
    status: status === "ABORTED" ? "killed" : "failed",
    failure: {
      code: error ?? `EXECUTION_${status}`,
      message: cause ?? `the run's execution is ${status}`,
      phase: run.phase,
    },
  });
}
