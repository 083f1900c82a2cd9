import type { Platform } from "../../../adapters/platform";
import { digestOf } from "../../../core/digest";
import { parseJson } from "../../../core/json-text";
import type { RunTransition } from "../../../core/tracking/run-records";
import type { Experiment, RunIdentity, RunRecord } from "../../../core/tracking/shapes";
import { doesNotExist, invalidParameter, invalidValue } from "../errors";

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

/** Changes a run that is not deleted, like `RunRecords.change`. @throws MlflowError */
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

/** Reads the run only if this process has not done so in the last second. @throws MlflowError */
export async function requireActiveRun(platform: Platform, runId: string): Promise<RunIdentity> {
  const identity = await identifyRun(platform, runId);
  if (!platform.liveRuns.isLive(runId)) checkRunIsActive(await findRun(platform, runId));
  return identity;
}

function checkRunIsActive({ runId, lifecycle }: RunRecord): void {
  if (lifecycle === "active") return;
  throw invalidParameter(`The run ${runId} must be in the 'active' state. Current state is ${lifecycle}.`);
}

function noSuchRun(runId: string): Error {
  return doesNotExist(`Run with id=${shortened(runId)} not found`);
}

/** @param experimentId any text; empty: the default experiment @throws MlflowError */
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

/** Maximum number of results of a search (`SEARCH_MAX_RESULTS_THRESHOLD`). */
const maxResults = 50_000;

export function checkMaxResults(limit: number): void {
  if (limit >= 1 && limit <= maxResults) return;
  throw invalidValue("max_results", limit, `must be from 1 to ${maxResults}`);
}

/** The query of a token, by the names of its parts. */
type PagedQuery = Readonly<Partial<Record<"experiment_ids" | "filter" | "order_by", unknown>>>;

/**
 * Returns a page of a list. Tokens are offsets, as in MLflow; one of another `query` is refused. @throws MlflowError
 */
export function pageOf<T>(found: readonly T[], limit: number, token: string | undefined, query: PagedQuery = {}) {
  const of = Object.values(query).map((part) => digestOf(part).slice(0, 16));
  const offset = offsetOf(token, Object.keys(query), of);
  const next = offset + limit;
  return { items: found.slice(offset, next), nextToken: next < found.length ? tokenOf(next, of) : undefined };
}

function tokenOf(offset: number, of: readonly string[]): string {
  return Buffer.from(JSON.stringify({ offset, ...(of.length > 0 ? { of } : {}) })).toString("base64");
}

function offsetOf(token: string | undefined, parts: readonly string[], of: readonly string[]): number {
  if (token === undefined || token === "") return 0;
  const read = readToken(token);
  parts.forEach((part, i) => {
    if (read.of[i] === of[i]) return;
    throw invalidParameter(`the page token belongs to a search with other ${part}: search again without it`);
  });
  return read.offset;
}

function readToken(token: string): { readonly offset: number; readonly of: readonly unknown[] } {
  try {
    const { offset, of = [] } = parseJson(Buffer.from(token, "base64").toString("utf8")) as Record<string, unknown>;
    if (Number.isSafeInteger(offset) && (offset as number) >= 0 && Array.isArray(of)) {
      return { offset: offset as number, of };
    }
  } catch {}
  throw invalidParameter("Invalid page token: it is not one that a search returned");
}
