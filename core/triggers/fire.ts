import { inRounds, type Pause } from "../backoff";
import { RingmasterError } from "../errors";
import { isoTime } from "../ports";
import { byTime, type Cause, type CauseRecord, causeIdOf } from "./cause";
import { triggerBusy } from "./lifecycle";
import type { TriggerRepository } from "./ports";
import { cancelOpen, equalTo, isOpenRun, type StartDependencies, startRun } from "./start";
import { missedReason, type TriggerState } from "./trigger";

export interface FireDependencies extends StartDependencies {
  readonly triggers: TriggerRepository;
  readonly pause: Pause;
}

/** Each failed round means that another writer succeeded. */
const rounds = 24;
/** Number of the trigger's newest causes that are searched for later causes. */
const recentCauses = 100;

/**
 * Processes a cause of a trigger. Idempotent: the event may be repeated and calls may overlap. A process that dies
 * leaves nothing or an open record. The cause's next event or the sweep continues from that record; it finds an existing
 * run, because the run's id is derived from the record. Causes of all triggers with equal work (job and dataset version)
 * have one run, unless a person asks for another.
 * @returns the cause's record; `undefined` if there is no such trigger
 * @throws transient errors, after which the caller retries. Permanent errors are recorded as `failed`.
 */
export async function fire(
  dependencies: FireDependencies,
  name: string,
  cause: Cause,
): Promise<CauseRecord | undefined> {
  const { triggers, clock, meter, team, pause } = dependencies;
  const id = causeIdOf(cause);
  const attempt = async (): Promise<{ readonly record: CauseRecord | undefined } | undefined> => {
    const state = await triggers.find(name);
    if (!state) return { record: undefined };
    const oldRecord = await triggers.findCause(name, id);
    if (oldRecord?.state === "started") return { record: await submit(dependencies, state, oldRecord) };
    const facts = await factsOf(dependencies, state, cause, oldRecord);
    const decision = decide(state, cause, oldRecord, facts);
    if (decision.move === "already") return { record: decision.record };
    const now = isoTime(clock);
    const record: CauseRecord = {
      trigger: name,
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
    const open = state.trigger.concurrency === "allow" ? [] : [...facts.open.map((one) => one.id), id];
    const start = decision.move === "start" ? { ...state, open } : undefined;
    if (!(await triggers.putCause(record, from, start))) return undefined;
    if (start) return { record: await submit(dependencies, start, record) };
    if (record.state === "skipped" || record.state === "unchanged")
      meter.emit({ TriggerSkipped: 1 }, team, { trigger: name, cause: id });
    return { record };
  };
  const { record } = await inRounds({ rounds, pause, busy: () => triggerBusy(name) }, attempt);
  return record;
}

/** Fires the causes of a trigger that wait, the oldest first. */
export async function fireWaiting(dependencies: FireDependencies, name: string): Promise<void> {
  for (const { cause } of await dependencies.triggers.openCauses(name)) await fire(dependencies, name, cause);
}

function outcomeOf(decision: Exclude<Decision, { move: "already" }>): Pick<CauseRecord, "state" | "reason" | "runId"> {
  if (decision.move === "start") return { state: "started" };
  if (decision.move === "coalesce") return { state: "unchanged", reason: decision.reason, runId: decision.runId };
  return { state: decision.move === "wait" ? "waiting" : "skipped", reason: decision.reason };
}

async function submit(dependencies: FireDependencies, state: TriggerState, begun: CauseRecord): Promise<CauseRecord> {
  const { triggers, clock, meter, team } = dependencies;
  const { trigger } = state;
  const conclude = async (end: Pick<CauseRecord, "state" | "reason" | "runId" | "failure">): Promise<CauseRecord> => {
    const record: CauseRecord = { ...begun, ...end, changedAt: isoTime(clock) };
    if (await triggers.putCause(record, "started")) {
      const { runId } = record;
      const about = { trigger: trigger.name, cause: begun.id, ...(runId === undefined ? {} : { runId }) };
      if (record.state === "submitted") meter.emit({ TriggerFired: 1 }, team, about);
      if (record.state === "unchanged") meter.emit({ TriggerSkipped: 1 }, team, about);
      return record;
    }
    return (await triggers.findCause(trigger.name, begun.id)) ?? record;
  };
  try {
    await replaceEarlier(dependencies, state, begun);
    const { runId, unchanged } = await startRun(dependencies, trigger, begun);
    return await conclude(
      unchanged === undefined ? { state: "submitted", runId } : { state: "unchanged", runId, reason: unchanged },
    );
  } catch (error) {
    if (!(error instanceof RingmasterError) || error.retryable || error.httpStatus >= 500) throw error;
    const { code, message } = error;
    await triggers.recordFailure(trigger.name, { cause: begun.id, code, message, at: isoTime(clock) });
    return conclude({ state: "failed", failure: { code, message } });
  }
}

/** Cancels the runs that were open when a cause of a trigger with `replace` was started. */
async function replaceEarlier(
  dependencies: FireDependencies,
  state: TriggerState,
  { id, cause }: CauseRecord,
): Promise<void> {
  const { trigger, open = [] } = state;
  if (trigger.concurrency !== "replace" || cause.type === "manual") return;
  for (const earlier of open.slice(0, Math.max(0, open.indexOf(id)))) {
    const record = await dependencies.triggers.findCause(trigger.name, earlier);
    // Its process may have died before or after the run was created. The run's id is known after it is submitted.
    const ended = record?.state === "started" ? await submit(dependencies, state, record) : record;
    if (ended?.state === "submitted" && ended.runId !== undefined)
      await cancelOpen(dependencies, ended.runId, `trigger ${trigger.name}, for ${id}`);
  }
}

async function factsOf(
  dependencies: FireDependencies,
  { trigger, open = [] }: TriggerState,
  cause: Cause,
  oldRecord: CauseRecord | undefined,
): Promise<Facts> {
  const { triggers, datasets, clock } = dependencies;
  const { name, concurrency } = trigger;
  const waited = oldRecord?.state === "waiting";
  const isNew = oldRecord === undefined || waited;
  const decides = isNew && cause.type !== "manual" && trigger.enabled && trigger.deletedAt === undefined;
  const now = clock.now();
  const [version, recent, waiting, equal, opened] = await Promise.all([
    cause.type === "dataset" ? datasets.find(cause.dataset, cause.version) : undefined,
    waited && concurrency !== "queue" ? triggers.listCauses(name, { limit: recentCauses }) : undefined,
    decides && concurrency === "queue" ? triggers.openCauses(name) : [],
    decides ? equalTo(dependencies, trigger, cause) : {},
    isNew ? Promise.all(open.map((id) => triggers.findCause(name, id))) : [],
  ]);
  const stillOpen: CauseRecord[] = [];
  for (const record of opened) if (record && (await isOpenCauseRun(dependencies, record))) stillOpen.push(record);
  const own = { id: causeIdOf(cause), cause };
  const known = [...(recent?.items ?? []), ...(concurrency === "replace" ? stillOpen : [])];
  return {
    now,
    ...equal,
    open: stillOpen,
    deprecation: version?.deprecation?.reason,
    missed: isNew && !waited && cause.type === "schedule" ? missedReason(trigger, cause.at, now) : undefined,
    ahead: waiting.find((one) => one.state === "waiting" && byTime(one, own) < 0 && one.id !== own.id)?.id,
    later: laterOf(cause, known),
  };
}

async function isOpenCauseRun(dependencies: FireDependencies, { state, runId }: CauseRecord): Promise<boolean> {
  if (state === "submitted" && runId !== undefined) return isOpenRun(dependencies, runId);
  return state === "started";
}

/** Finds a later cause of the same kind, which replaces one that waits. */
function laterOf(cause: Cause, records: readonly CauseRecord[]): string | undefined {
  return records.find(
    ({ cause: other, state }) =>
      other.type === cause.type &&
      state !== "skipped" &&
      state !== "failed" &&
      (isVersionOf(other, cause) ?? other.at > cause.at),
  )?.id;
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
  /** Started causes whose runs have not ended. */
  readonly open: readonly Pick<CauseRecord, "id">[];
  readonly deprecation?: string;
  readonly work?: string;
  readonly equal?: { readonly runId: string; readonly reason: string };
  /** The reason for which a late time of a schedule starts no run. */
  readonly missed?: string;
  /** An older cause that waits. */
  readonly ahead?: string;
  readonly later?: string;
}

export function decide(
  { trigger, lastStartedAt }: TriggerState,
  cause: Cause,
  record: CauseRecord | undefined,
  { now, open, deprecation, equal, missed, ahead, later }: Facts,
): Decision {
  const skip = (reason: string) => ({ move: "skip", reason }) as const;
  const wait = (reason: string) => ({ move: "wait", reason }) as const;
  if (record !== undefined && record.state !== "waiting") return { move: "already", record };
  if (trigger.deletedAt !== undefined) return skip(`the trigger was deleted at ${trigger.deletedAt}`);
  if (deprecation !== undefined) return skip(`the version is deprecated: ${deprecation}`);
  if (cause.type === "manual") return { move: "start" };
  if (!trigger.enabled)
    return skip(`the trigger is disabled${trigger.pausedReason ? `: ${trigger.pausedReason}` : ""}`);
  if (cause.at < sinceFor(cause, trigger.since))
    return skip(`it happened at ${cause.at}, before the trigger was in force (${trigger.since})`);
  if (missed !== undefined) return skip(missed);
  if (later !== undefined) return skip(`${later} arrived ${record ? "while it waited" : "before it"}`);
  if (equal !== undefined) return { move: "coalesce", ...equal };
  const [busy] = open;
  if (busy && trigger.concurrency === "skip") return skip(`the run for ${busy.id} has not ended; concurrency is skip`);
  if (busy && trigger.concurrency === "queue") return wait(`the run for ${busy.id} has not ended`);
  if (ahead !== undefined) return wait(`${ahead} is before it in the queue`);
  const free = lastStartedAt === undefined ? 0 : Date.parse(lastStartedAt) + trigger.cooldownMinutes * 60_000;
  if (now >= free) return { move: "start" };
  return wait(
    `the last run started at ${lastStartedAt}, and the cooldown is ${trigger.cooldownMinutes} minutes: the next run can start at ${new Date(free).toISOString()}`,
  );
}

/** EventBridge's times are whole seconds: drift found right after the trigger's creation must not look older than it. */
function sinceFor(cause: Cause, since: string): string {
  return cause.type === "drift" || cause.type === "webhook"
    ? `${since.slice(0, "2026-01-01T00:00:00".length)}.000Z`
    : since;
}
