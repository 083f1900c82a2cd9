import { inRounds, type Pause } from "../backoff";
import { digestOf } from "../digest";
import { RingmasterError } from "../errors";
import type { Meter } from "../metering/metrics";
import { isoTime } from "../ports";
import type { Job } from "../runs/job";
import { isOpen } from "../runs/run-states";
import type { Run } from "../runs/shapes";
import { findSubmitted, submitRun } from "../training/submit";
import { type Cause, type CauseRecord, causeIdOf, idempotencyKeyOf, runCauseOf } from "./cause";
import { type EqualRunDependencies, findEqualRun, hasFailed, keyOfWork, nothingNew, workOf } from "./equal-run";
import { ruleBusy } from "./lifecycle";
import type { RetrainingRepository } from "./ports";
import type { RetrainingRule, RuleState } from "./rule";

export interface FireDependencies extends EqualRunDependencies {
  readonly retraining: RetrainingRepository;
  readonly meter: Meter;
  readonly pause: Pause;
}

/** Each failed round means that another writer succeeded. */
const rounds = 24;
/** Number of the rule's newest causes that are searched for open runs and later causes. */
const recentCauses = 100;

/**
 * Processes a cause of a rule. Idempotent: the event may be repeated and calls may overlap. A process that dies leaves
 * nothing or an open record. The cause's next event or the sweep continues from that record; it finds an existing run,
 * because the run's id is derived from the record. Causes of all rules with equal work (job and dataset version) have
 * one run, unless a person asks for another.
 * @returns the cause's record; `undefined` if there is no such rule
 * @throws transient errors, after which the caller retries. Permanent errors are recorded as `failed`.
 */
export async function fire(
  dependencies: FireDependencies,
  ruleName: string,
  cause: Cause,
): Promise<CauseRecord | undefined> {
  const { retraining, clock, meter, team, pause } = dependencies;
  const id = causeIdOf(cause);
  const attempt = async (): Promise<{ readonly record: CauseRecord | undefined } | undefined> => {
    const state = await retraining.find(ruleName);
    if (!state) return { record: undefined };
    const oldRecord = await retraining.findCause(ruleName, id);
    const facts = await factsOf(dependencies, state, cause, oldRecord);
    const decision = decide(state, cause, oldRecord, facts);
    if (decision.move === "already") return { record: decision.record };
    if (decision.move === "start" && oldRecord?.state === "started")
      return { record: await submit(dependencies, state, oldRecord) };
    const now = isoTime(clock);
    const record: CauseRecord = {
      rule: ruleName,
      id,
      cause,
      ...outcomeOf(decision),
      work: decision.move === "start" ? facts.work : undefined,
      heardAt: oldRecord?.heardAt ?? now,
      changedAt: now,
    };
    if (oldRecord?.state === "waiting" && record.state === "waiting" && oldRecord.reason === record.reason)
      return { record: oldRecord };
    const from = oldRecord?.state === "waiting" ? "waiting" : undefined;
    if (!(await retraining.putCause(record, from, decision.move === "start" ? state : undefined))) return undefined;
    if (decision.move === "start") return { record: await submit(dependencies, state, record) };
    if (record.state === "skipped" || record.state === "unchanged")
      meter.emit({ RetrainingSkipped: 1 }, team, { rule: ruleName, cause: id });
    return { record };
  };
  const { record } = await inRounds({ rounds, pause, busy: () => ruleBusy(ruleName) }, attempt);
  return record;
}

function outcomeOf(decision: Exclude<Decision, { move: "already" }>): Pick<CauseRecord, "state" | "reason" | "runId"> {
  if (decision.move === "start") return { state: "started" };
  if (decision.move === "coalesce") return { state: "unchanged", reason: decision.reason, runId: decision.runId };
  return { state: decision.move === "wait" ? "waiting" : "skipped", reason: decision.reason };
}

async function submit(dependencies: FireDependencies, { rule }: RuleState, begun: CauseRecord): Promise<CauseRecord> {
  const { retraining, clock, meter, team } = dependencies;
  const cause = runCauseOf(rule.name, begun.cause);
  const isOwn = (run: Run): boolean => run.cause?.rule === cause.rule && run.cause.id === cause.id;
  const conclude = async (end: Pick<CauseRecord, "state" | "reason" | "runId" | "failure">): Promise<CauseRecord> => {
    const record: CauseRecord = { ...begun, ...end, changedAt: isoTime(clock) };
    if (await retraining.putCause(record, "started")) {
      const { runId, state } = record;
      const about = { rule: rule.name, cause: begun.id, ...(runId === undefined ? {} : { runId }) };
      if (state === "submitted") meter.emit({ RetrainingFired: 1 }, team, about);
      if (state === "unchanged") meter.emit({ RetrainingSkipped: 1 }, team, about);
      return record;
    }
    return (await retraining.findCause(rule.name, begun.id)) ?? record;
  };
  try {
    for (let nth = 0; ; nth += 1) {
      const idempotencyKey =
        begun.work === undefined ? idempotencyKeyOf(rule.name, begun.id) : keyOfWork(begun.work, nth);
      // The rule may have changed since the run was created. It is still the cause's run.
      const identity = { team, idempotencyKey, requestDigest: digestOf({ idempotencyKey }) };
      const earlierRun = await findSubmitted(dependencies, identity);
      if (earlierRun && hasFailed(earlierRun) && !isOwn(earlierRun)) continue;
      const run =
        earlierRun ??
        (await submitRun(dependencies, {
          ...identity,
          job: jobFor(rule.job, begun.cause),
          code: rule.code,
          noCache: false,
          actor: begun.cause.type === "manual" ? begun.cause.by : `retraining rule ${rule.name}`,
          submitters: submittersOf(rule, begun.cause),
          cause,
        }));
      const { runId } = run;
      if (isOwn(run)) return await conclude({ state: "submitted", runId });
      return await conclude({ state: "unchanged", runId, reason: await nothingNew(dependencies, run) });
    }
  } catch (error) {
    if (!(error instanceof RingmasterError) || error.retryable || error.httpStatus >= 500) throw error;
    const { code, message } = error;
    await retraining.recordFailure(rule.name, { cause: begun.id, code, message, at: isoTime(clock) });
    return conclude({ state: "failed", failure: { code, message } });
  }
}

/** Returns the rule's authors and the person who fired it; `undefined` if one of them is not known. */
function submittersOf({ authors }: RetrainingRule, cause: Cause): readonly string[] | undefined {
  if (cause.type !== "manual" || authors === undefined) return authors;
  return cause.personId === undefined ? undefined : [...new Set([...authors, cause.personId])];
}

/** Returns the job for a cause. A dataset cause trains on its own version, not on `latest`. */
function jobFor(job: Job, cause: Cause): Job {
  return cause.type === "dataset" ? { ...job, dataset: `${cause.dataset}@${cause.version}` } : job;
}

/** Finds what the cause would train, and a run that has trained it. A job that cannot be submitted has no work. */
async function equalTo(
  dependencies: FireDependencies,
  stored: Job,
  cause: Cause,
): Promise<Pick<Facts, "work" | "equal">> {
  const job = jobFor(stored, cause);
  try {
    const work = await workOf(dependencies, job);
    const run = await findEqualRun(dependencies, job, work);
    return { work, equal: run && { runId: run.runId, reason: await nothingNew(dependencies, run) } };
  } catch (error) {
    if (!(error instanceof RingmasterError) || error.retryable || error.httpStatus >= 500) throw error;
    return {};
  }
}

async function factsOf(
  dependencies: FireDependencies,
  { rule }: RuleState,
  cause: Cause,
  oldRecord: CauseRecord | undefined,
): Promise<Facts> {
  const { retraining, runs, datasets, clock } = dependencies;
  const limited = rule.maxConcurrentRuns !== undefined;
  const waited = oldRecord?.state === "waiting";
  const isOpenNow = (oldRecord === undefined || waited) && rule.enabled && rule.deletedAt === undefined;
  const [version, recent, equal] = await Promise.all([
    cause.type === "dataset" ? datasets.find(cause.dataset, cause.version) : undefined,
    limited || waited ? retraining.listCauses(rule.name, { limit: recentCauses }) : undefined,
    isOpenNow && cause.type !== "manual" ? equalTo(dependencies, rule.job, cause) : {},
  ]);
  const records = recent?.items ?? [];
  return {
    now: clock.now(),
    ...equal,
    openRuns: limited ? await countOpen(runs, records) : 0,
    ...(version?.deprecation ? { deprecation: version.deprecation.reason } : {}),
    ...(waited ? laterOf(cause, records) : {}),
  };
}

async function countOpen(
  runs: { find(runId: string): Promise<Run | undefined> },
  records: readonly CauseRecord[],
): Promise<number> {
  const outcomes = await Promise.all(
    records.map(async ({ state, runId }) => {
      if (state === "unchanged") return false;
      if (runId === undefined) return state === "started";
      const run = await runs.find(runId);
      return run !== undefined && isOpen(run.status);
    }),
  );
  return outcomes.filter(Boolean).length;
}

/** Finds a later cause of the same kind, which replaces one that waits. */
function laterOf(cause: Cause, records: readonly CauseRecord[]): Pick<Facts, "later"> {
  const later = records.find(
    ({ cause: other, state }) =>
      other.type === cause.type &&
      state !== "skipped" &&
      state !== "failed" &&
      (isVersionOf(other, cause) ?? other.at > cause.at),
  );
  return later ? { later: later.id } : {};
}

function isVersionOf(other: Cause, cause: Cause): boolean | undefined {
  return other.type === "dataset" && cause.type === "dataset" ? other.version > cause.version : undefined;
}

type Decision =
  | { readonly move: "start" }
  /** An earlier event of the same cause was processed. */
  | { readonly move: "already"; readonly record: CauseRecord }
  /** Another run does or did the same work. */
  | { readonly move: "coalesce"; readonly runId: string; readonly reason: string }
  | { readonly move: "skip" | "wait"; readonly reason: string };

export interface Facts {
  readonly now: number;
  readonly openRuns: number;
  readonly deprecation?: string;
  readonly work?: string;
  readonly equal?: { readonly runId: string; readonly reason: string };
  readonly later?: string;
}

export function decide(
  { rule, lastStartedAt }: RuleState,
  cause: Cause,
  record: CauseRecord | undefined,
  facts: Facts,
): Decision {
  if (record !== undefined && record.state !== "waiting" && record.state !== "started")
    return { move: "already", record };
  // The start was decided before; the process that decided it died before the run was created.
  if (record?.state === "started") return { move: "start" };
  if (rule.deletedAt !== undefined) return { move: "skip", reason: `the rule was deleted at ${rule.deletedAt}` };
  if (facts.deprecation !== undefined)
    return { move: "skip", reason: `the version is deprecated: ${facts.deprecation}` };
  if (cause.type === "manual") return { move: "start" };
  if (!rule.enabled)
    return { move: "skip", reason: `the rule is disabled${rule.pausedReason ? `: ${rule.pausedReason}` : ""}` };
  if (cause.at < sinceFor(cause, rule.since)) {
    return { move: "skip", reason: `it happened at ${cause.at}, before the rule was in force (${rule.since})` };
  }
  if (record !== undefined && facts.later !== undefined) {
    return { move: "skip", reason: `${facts.later} arrived while it waited` };
  }
  if (facts.equal !== undefined) return { move: "coalesce", ...facts.equal };
  const wait = limitOf(rule, lastStartedAt, facts);
  return wait === undefined ? { move: "start" } : { move: "wait", reason: wait };
}

/** EventBridge's times are whole seconds: drift found right after the rule's creation must not look older than it. */
function sinceFor(cause: Cause, since: string): string {
  return cause.type === "drift" ? `${since.slice(0, "2026-01-01T00:00:00".length)}.000Z` : since;
}

function limitOf(
  { cooldownMinutes, maxConcurrentRuns }: RuleState["rule"],
  lastStartedAt: string | undefined,
  { now, openRuns }: Facts,
): string | undefined {
  const free = lastStartedAt === undefined ? 0 : Date.parse(lastStartedAt) + cooldownMinutes * 60_000;
  if (now < free) {
    return `the last run started at ${lastStartedAt}, and the cooldown is ${cooldownMinutes} minutes: the next run can start at ${new Date(free).toISOString()}`;
  }
  if (maxConcurrentRuns !== undefined && openRuns >= maxConcurrentRuns) {
    return `${openRuns} of the rule's runs have not ended, and the rule allows ${maxConcurrentRuns} open at a time`;
  }
  return undefined;
}
