import type { RunDetails } from "../runs/run";
import type { LaunchDependencies } from "./launch";

/** Time in which the workers of a completed training end: they upload the last checkpoint and send metrics. */
const graceMs = 5 * 60_000;
/** Time after which the workers are no longer checked. The job ends with the run at the latest. */
const watchedForMs = 60 * 60_000;

/**
 * Ends the job of a completed training whose workers have not all ended in time. A run may wait for its approval for
 * weeks.
 */
export async function stopStragglers({ jobs, clock }: LaunchDependencies, { attempts }: RunDetails): Promise<void> {
  const { status, jobId, endedAt } = attempts.at(-1) ?? {};
  if (status !== "succeeded" || jobId === undefined || endedAt === undefined) return;
  const since = clock.now() - Date.parse(endedAt);
  if (since < graceMs || since > watchedForMs) return;
  if ((await jobs.describe(jobId)).status !== "running") return;
  await jobs.terminate(jobId, "training has finished, but a worker did not exit");
}
