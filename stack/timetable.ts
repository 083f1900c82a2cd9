import { nextFire, parseExpression } from "../core/schedules/expression";
import type { ParseSchedule } from "../local";

/** The schedule expressions of rules and of the Scheduler: those of the platform. */
export const parseSchedule: ParseSchedule = (text) => {
  const expression = parseExpression(text);
  return { kind: expression.kind, next: (after, options) => nextFire(expression, after, options) };
};
