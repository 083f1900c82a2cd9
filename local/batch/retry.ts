import type { Ending, RetryRule, RetryStrategy } from "./types";

/**
 * Returns whether a failed attempt is retried, by Batch's rules. The first entry of `evaluateOnExit` with only matching
 * conditions decides. *If none matches, the job is retried.* There are at most `attempts` attempts.
 *
 * @param made attempts so far, including the failed one
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

/** Matches a pattern that may end in `*`. A missing condition always holds. */
function glob(pattern: string | undefined, value: string | undefined): boolean {
  if (pattern === undefined) return true;
  if (value === undefined) return false;
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}
