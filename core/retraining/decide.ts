import type { Cause, CauseRecord } from "./cause";
import type { RuleState } from "./rule";

export type Decision =
  | { readonly move: "start" }
  /** An earlier event of the same cause was dealt with. */
  | { readonly move: "already"; readonly record: CauseRecord }
  | { readonly move: "skip" | "wait"; readonly reason: string };

/** What besides the rule and the cause's record a decision looks at. */
export interface Facts {
  readonly now: number;
  /** The rule's runs that have not ended; counted where the rule limits them. */
  readonly openRuns: number;
  /** Of a dataset cause's version. */
  readonly deprecation?: string;
  /** The id of a later cause of the same kind that is dealt with or waits. */
  readonly later?: string;
}

/** What to do about a cause. Pure: the same rule, record and facts give the same answer. */
export function decide(
  { rule, lastStartedAt }: RuleState,
  cause: Cause,
  record: CauseRecord | undefined,
  facts: Facts,
): Decision {
  if (record !== undefined && record.state !== "waiting" && record.state !== "started")
    return { move: "already", record };
  // It was decided when it was begun; whoever begun it died before the run was there.
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

/** EventBridge tells times in whole seconds: what was found right after the rule was made must not seem to be older than it. */
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
