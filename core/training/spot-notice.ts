import type { Meter } from "../metering/meter";
import { isOpen, type RunDetails } from "../runs/run";
import type { InstanceUse, RunRepository } from "../runs/run-repository";

export interface SpotNoticeDependencies {
  readonly meter: Meter;
  findOnInstance(instanceId: string): Promise<readonly InstanceUse[]>;
  /** `undefined` where there is no such run. */
  teamOf(runId: string): Promise<string | undefined>;
  forTeam(team: string): { readonly runs: Pick<RunRepository, "findDetails" | "recordInterruptionNotice"> };
}

/**
 * EC2 will take an instance back in two minutes: notes it on each worker that runs there, and counts it once however often the event comes. The
 * workers do not wait for this: they read the same notice from the instance's metadata. A worker that has not yet sent its first metrics is
 * not known to be there, and its notice shows only in its loss.
 *
 * @param at when EC2 said so, ISO 8601
 * @returns the workers that had not been noted before; none where the instance is somebody else's
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

/** An instance outlives jobs: whoever ended there before is not concerned. */
function mayRun({ run, workers }: RunDetails, memberId: string): boolean {
  if (!isOpen(run.status)) return false;
  const [jobId, attempt] = memberId.split("/");
  const worker = workers.find((one) => one.jobId === jobId);
  return worker === undefined || worker.attempts.length < Number(attempt);
}
