import type { Cause, CauseRecord } from "./cause";
import type { RuleState } from "./rule";

export type Decision =
  | { readonly move: "start" }
  /** An earlier event of the same cause was processed. */
  | { readonly move: "already"; readonly record: CauseRecord }
  | { readonly move: "skip" | "wait"; readonly reason: string };

/** The inputs of a decision other than the rule and the cause's record. */
export interface Facts {
  readonly now: number;
  /** Number of the rule's open runs; 0 if the rule does not limit them. */
  readonly openRuns: number;
  /** The reason for the deprecation of a dataset cause's version. */
  readonly deprecation?: string;
  /** The id of a later cause of the same kind that was processed or waits. */
  readonly later?: string;
}

/** Decides what to do about a cause. Pure. */
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
  const wait = limitOf(rule, lastStartedAt, facts);
  return wait === undefined ? { move: "start" } : { move: "wait", reason: wait };
}

/**
 * Returns the earliest time of a cause that counts. EventBridge's timestamps are whole seconds, so drift that was found
 * right after the rule was created must not look older than the rule.
 */
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
