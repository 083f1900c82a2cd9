import type { Executions } from "../runs/ports";
import type { RunDetails } from "../runs/run";
import { type EndAttemptDependencies, endAttempt } from "./end-attempt";
import { isAbandoned, jobRequestOf } from "./launch";
import { runEnded } from "./run-ended";

/**
 * Stops what a run that has ended left at work, publishes its end, and takes it out of the list of open runs once there is nothing left.
 * May be repeated.
 *
 * The list is the outbox of the end's event: the run stays in it until the event was accepted, so that `reconcile` publishes what a process that
 * died has not.
 *
 * The run's end is written before: no attempt can begin any more, and none can get a job into its row. What may be left is the job of a process
 * that died between asking Batch and saying so; while that process may live, the run stays listed, and `reconcile` comes back to it.
 *
 * @param executions to stop that of a killed run; left out where it is that execution's end which brings us here
 */
export async function windUp(
  dependencies: EndAttemptDependencies,
  runId: string,
  reason: string,
  executions?: Executions,
): Promise<void> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) return;
  // An execution that comes to its end by itself must not be stopped on its last steps.
  if (details.run.status === "killed") await executions?.stop(runId, reason);
  const stopped = await stopTraining(dependencies, details, reason);
  const event = details.endPublished ? undefined : runEnded(details);
  if (event) await dependencies.runEvents.publishRunEnded(event);
  if (stopped) await dependencies.runs.delist(runId);
  else if (event) await dependencies.runs.markEndPublished(runId);
}

/** @returns whether nothing of it is at work any more. */
async function stopTraining(
  dependencies: EndAttemptDependencies,
  details: RunDetails,
  reason: string,
): Promise<boolean> {
  const { jobs, clock } = dependencies;
  const { run, attempts } = details;
  const attempt = attempts.at(-1); // an earlier one's job was seen to have ended
  if (!attempt) return true;
  if (attempt.jobId === undefined && attempt.reason !== undefined && attempt.status === "failed") return true; // refused
  if (attempt.jobId === undefined && !isAbandoned(attempt, clock)) return false;
  const jobId = attempt.jobId ?? (await jobs.find(jobRequestOf(run, attempt)));
  // Workers of a training that succeeded end by themselves, but for one that hangs.
  if (jobId !== undefined && attempt.status !== "failed") await jobs.terminate(jobId, reason);
  await endAttempt(dependencies, details, { ...attempt, jobId }, { status: "failed", reason }, "rows");
  return true;
}
