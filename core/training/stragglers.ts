import type { RunDetails } from "../runs/run";
import type { LaunchDependencies } from "./launch";

/** The workers of a training that has its result end within this time: the last checkpoint is uploaded, metrics are sent. */
const graceMs = 5 * 60_000;
/** After that nobody asks any more; the job is ended with the run at the latest. */
const askedForMs = 60 * 60_000;

/** Ends the job of a training that succeeded a while ago and whose workers have not all gone: a run may wait for its approval for weeks. */
export async function stopStragglers({ jobs, clock }: LaunchDependencies, { attempts }: RunDetails): Promise<void> {
  const { status, jobId, endedAt } = attempts.at(-1) ?? {};
  if (status !== "succeeded" || jobId === undefined || endedAt === undefined) return;
  const since = clock.now() - Date.parse(endedAt);
  if (since < graceMs || since > askedForMs) return;
  if ((await jobs.describe(jobId)).status !== "running") return;
  await jobs.terminate(jobId, "training has finished, but a worker did not exit");
}
