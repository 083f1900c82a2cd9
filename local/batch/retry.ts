import type { Ending, RetryRule, RetryStrategy } from "./types";

/**
 * Whether a failed attempt is followed by another, by Batch's rules: the first entry of `evaluateOnExit` of which every
 * condition matches decides; *when none matches, the job is retried*. There are never more than `attempts` attempts.
 *
 * @param made attempts so far, the failed one included
 */
export function retries(strategy: RetryStrategy, made: number, ending: Ending): boolean {
  if (made >= (strategy.attempts ?? 1)) return false;
  const rule = strategy.evaluateOnExit?.find((candidate) => matches(candidate, ending));
  return rule === undefined || rule.action.toUpperCase() === "RETRY";
}

function matches(rule: RetryRule, ending: Ending): boolean {
  return (
    glob(rule.onExitCode, ending.exitCode === undefined ? undefined : String(ending.exitCode)) &&
    glob(rule.onReason, ending.reason ?? "") &&
    glob(rule.onStatusReason, ending.statusReason)
  );
}

/** A pattern may end in `*`; a condition that is not given always holds. */
function glob(pattern: string | undefined, value: string | undefined): boolean {
  if (pattern === undefined) return true;
  if (value === undefined) return false;
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}
