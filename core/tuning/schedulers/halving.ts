import type { Scheduler } from "../scheduler";
import { bracketScheduler } from "./brackets";
import type { HalvingContext } from "./rungs";

/** Successive halving from the first rung. Studies of many trials run several brackets of about η^rungs trials. */
export function successiveHalving(context: HalvingContext): Scheduler {
  const whole = context.factor ** (context.rungs.length - 1);
  return bracketScheduler(
    {
      baseOf: () => 0,
      sizeOf: (_, left) => (left === Infinity ? whole : Math.ceil(left / Math.max(1, Math.round(left / whole)))),
    },
    context,
  );
}

/**
 * Hyperband (Li et al., 2018): rounds of brackets, from the one that stops trials earliest to the one that stops none.
 * The brackets of a round have ⌈(s_max + 1) / (s + 1) · η^s⌉ trials, in proportion to the trials that the study has left:
 * all rounds of a study are about equally large, and no bracket is cut off at the end.
 */
export function hyperband(context: HalvingContext): Scheduler {
  const count = context.rungs.length;
  const weights = context.rungs.map((_, base) =>
    Math.ceil((count / (count - base)) * context.factor ** (count - 1 - base)),
  );
  const rest = weights.map((_, base) => weights.slice(base).reduce((sum, weight) => sum + weight, 0));
  return bracketScheduler(
    {
      baseOf: (bracket) => bracket % count,
      sizeOf(bracket, left) {
        const base = bracket % count;
        if (left === Infinity) return weights[base]!;
        const laterRounds = Math.max(0, Math.round((left - rest[base]!) / rest[0]!));
        const share = weights[base]! / (rest[base]! + laterRounds * rest[0]!);
        return Math.min(left, Math.max(1, Math.round(left * share)));
      },
    },
    context,
  );
}
