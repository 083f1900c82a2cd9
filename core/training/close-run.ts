import type { OperationalMetric } from "../metering/metrics";
import { isoTime } from "../ports";
import { runAlreadyEnded, runNotFound } from "../runs/errors";
import type { Executions, RunSegment } from "../runs/ports";
import type { RunConclusion } from "../runs/run-repository";
import { isOpen } from "../runs/run-states";
import type { Run, RunDetails, RunOutcome, TrainingAttempt } from "../runs/shapes";
import { type CompleteAttemptDependencies, completeAttempt } from "./complete-attempt";
import { isAbandoned, jobRequestOf, latestAttempts } from "./launch";
import { runEnded } from "./run-ended";

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
  if (!run) throw runNotFound(runId, "training");
  if (!isOpen(run.status) && run.status !== "killed" && run.status !== "paused")
    throw runAlreadyEnded(runId, run.status);
  const message = `cancelled by ${actor}`;
  const failure = { code: "CANCELLED", message, phase: run.phase };
  await closeRun(dependencies, run, { status: "killed", failure }, executions);
  // The run may have ended at the same time; the first end stays.
  const now = (await runs.find(runId)) ?? run;
  if (now.status !== "killed") throw runAlreadyEnded(runId, now.status);
  return now;
}

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

/**
 * Stops the remaining work of an ended run, publishes its end, and removes it from the list of open runs once nothing
 * is left. Idempotent.
 *
 * The list is the outbox of the end's event: the run stays in it until the event was accepted, so that `reconcile`
 * publishes the event if a process died.
 *
 * The run's end is written before. After that no attempt can start, and none can get a job into its row. What may
 * remain is the job of a process that died between its SubmitJob request and the record. While that process may live,
 * the run stays listed, and `reconcile` returns to it.
 * @param executions stops the execution of a killed run; omitted if the execution itself has ended
 */
export async function cleanUpRun(
  dependencies: CompleteAttemptDependencies,
  runId: string,
  reason: string,
  executions?: Executions,
): Promise<void> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) return;
  // An execution that is about to end by itself must not be stopped in its last steps.
  if (details.run.status === "killed") await executions?.stop(details.run, reason);
  const stopped = await stopJobs(dependencies, details, reason);
  const event = details.endPublished ? undefined : runEnded(details);
  if (event) await dependencies.runEvents.publishRunEnded(event);
  if (stopped) await dependencies.runs.delist(runId);
  else if (event) await dependencies.runs.markEndPublished(runId);
}

/** @returns whether no work is left */
async function stopJobs(
  dependencies: CompleteAttemptDependencies,
  details: RunDetails,
  reason: string,
): Promise<boolean> {
  let stopped = true;
  for (const attempt of latestAttempts(details.attempts)) {
    if (!(await stopAttempt(dependencies, details, attempt, reason))) stopped = false;
  }
  return stopped;
}

async function stopAttempt(
  dependencies: CompleteAttemptDependencies,
  details: RunDetails,
  attempt: TrainingAttempt,
  reason: string,
): Promise<boolean> {
  const { jobs, clock } = dependencies;
  const { run } = details;
  if (attempt.jobId === undefined && attempt.reason !== undefined && attempt.status === "failed") return true; // refused
  if (attempt.jobId === undefined && !isAbandoned(attempt, clock)) return false;
  const jobId = attempt.jobId ?? (await jobs.find(jobRequestOf(run, attempt)));
  // Workers of a training that succeeded end by themselves, unless one hangs.
  if (jobId !== undefined && attempt.status !== "failed") await jobs.terminate(jobId, reason, run.runId);
  await completeAttempt(dependencies, details, { ...attempt, jobId }, { status: "failed", reason }, "rows");
  return true;
}
