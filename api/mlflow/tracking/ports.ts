import type { Platform } from "../../../adapters/platform";
import type { RunTransition } from "../../../core/tracking/run-records";
import type { Experiment, RunIdentity, RunRecord } from "../../../core/tracking/shapes";
import { doesNotExist, invalidParameter } from "../errors";

export async function findRun({ records }: Platform, runId: string): Promise<RunRecord> {
  const record = await records.find(runId);
  if (!record) throw noSuchRun(runId);
  return record;
}

/** Maximum number of characters of an id in a message. */
const maxShown = 256;

function shortened(id: string): string {
  return id.length <= maxShown ? id : `${id.slice(0, maxShown)}…`;
}

export async function identifyRun({ records }: Platform, runId: string): Promise<RunIdentity> {
  const identity = await records.identify(runId);
  if (!identity) throw noSuchRun(runId);
  return identity;
}

/**
 * Changes a run that is not deleted, like `RunRecords.change`.
 *
 * @throws MlflowError
 */
export async function changeActiveRun(
  platform: Platform,
  runId: string,
  transition: RunTransition,
): Promise<RunRecord> {
  await identifyRun(platform, runId);
  return platform.records.change(runId, (record) => {
    checkRunIsActive(record);
    return transition(record);
  });
}

/**
 * Checks that a run is active. Reads it only if this process has not done so in the last second.
 *
 * @throws MlflowError
 */
export async function requireActiveRun(platform: Platform, runId: string): Promise<RunIdentity> {
  const identity = await identifyRun(platform, runId);
  if (!platform.liveRuns.isLive(runId)) checkRunIsActive(await findRun(platform, runId));
  return identity;
}

export function checkRunIsActive({ runId, lifecycle }: RunRecord): void {
  if (lifecycle === "active") return;
  throw invalidParameter(`The run ${runId} must be in the 'active' state. Current state is ${lifecycle}.`);
}

export function noSuchRun(runId: string): Error {
  return doesNotExist(`Run with id=${shortened(runId)} not found`);
}

/**
 * @param experimentId any text; empty: the default experiment
 * @throws MlflowError
 */
export async function findExperiment(
  { experiments }: Platform,
  experimentId: string,
  how: "find" | "findRecent" = "find",
): Promise<Experiment> {
  const id = parseExperimentId(experimentId || "0");
  const experiment = await experiments[how](id);
  if (!experiment) throw noSuchExperiment(id);
  return experiment;
}

export function noSuchExperiment(experimentId: string): Error {
  return doesNotExist(`No Experiment with id=${experimentId} exists`);
}

export function parseExperimentId(experimentId: string): string {
  if (experimentId.length > maxShown || !/^\s*[+-]?\d+\s*$/.test(experimentId)) {
    throw invalidParameter(
      `Invalid experiment ID '${shortened(experimentId)}'. Experiment ID must be a valid integer.`,
    );
  }
  return String(BigInt(experimentId.trim().replace(/^\+/, "")));
}

export function checkExperimentIsActive({ experimentId, lifecycle }: Experiment): void {
  if (lifecycle === "active") return;
  throw invalidParameter(
    `The experiment ${experimentId} must be in the 'active' state. Current state is ${lifecycle}.`,
  );
}
