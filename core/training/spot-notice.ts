import type { Meter } from "../metering/metrics";
import type { InstanceUse, RunRepository } from "../runs/run-repository";
import { isOpen } from "../runs/run-states";
import type { RunDetails } from "../runs/shapes";

export interface SpotNoticeDependencies {
  readonly meter: Meter;
  findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
  /** Returns `undefined` if there is no such run. */
  teamOf(runId: string): Promise<string | undefined>;
  forTeam(team: string): { readonly runs: Pick<RunRepository, "findDetails" | "recordInterruptionNotice"> };
}

/**
 * Records on each worker of an instance that EC2 will reclaim it in two minutes, and counts it once even if the event
 * is repeated. The workers do not depend on it: they read the same notice from the instance's metadata. A worker that
 * has not sent its first metrics has no recorded instance, and its notice shows only in its loss.
 *
 * @param at time of EC2's notice, ISO 8601
 * @returns the newly recorded workers; none if the instance is not the platform's
 */
export async function takeSpotNotice(
  { meter, findOnInstance, teamOf, forTeam }: SpotNoticeDependencies,
  instanceId: string,
  at: string,
): Promise<readonly InstanceUse[]> {
  const uses = await findOnInstance(instanceId);
  const noted: InstanceUse[] = [];
  for (const use of uses) {
    const team = await teamOf(use.runId);
    if (team === undefined) continue;
    const { runs } = forTeam(team);
    const details = await runs.findDetails(use.runId);
    if (!details || !mayRun(details, use.memberId)) continue;
    if (!(await runs.recordInterruptionNotice(use.runId, use.memberId, at))) continue;
    meter.emit({ SpotNotices: 1 }, team, { runId: use.runId, instanceId });
    noted.push(use);
  }
  return noted;
}

/** An instance outlives jobs. Processes that have ended there are not affected. */
function mayRun({ run, workers }: RunDetails, memberId: string): boolean {
  if (!isOpen(run.status)) return false;
  const [jobId, attempt] = memberId.split("/");
  const worker = workers.find((one) => one.jobId === jobId);
  return worker === undefined || worker.attempts.length < Number(attempt);
}
