import { nextFire, parseExpression } from "../schedules/expression";
import type { RetrainingRule } from "./rule";

/**
 * Returns the next times of a rule's cron expression. For a rate the result is empty, because only the Scheduler knows
 * its start.
 */
export function nextFirings(
  { trigger, enabled, deletedAt }: RetrainingRule,
  now: number,
  count = 3,
): readonly string[] {
  if (trigger.type !== "schedule" || !enabled || deletedAt !== undefined) return [];
  const expression = parseExpression(trigger.expression);
  const times: string[] = [];
  let after = now;
  while (expression.kind === "cron" && times.length < count) {
    const next = nextFire(expression, after, { timeZone: trigger.timeZone, base: now });
    if (next === undefined) break;
    times.push(new Date(next).toISOString());
    after = next;
  }
  return times;
}
