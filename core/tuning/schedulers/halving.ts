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
 * The sizes of a round's brackets are in proportion to ((s_max + 1) / (s + 1) · η^s)^p, and all rounds of a study are
 * about equally large, so that no bracket is cut off at the end. p is 1 in the paper. Resumed trials make brackets that
 * stop early cheaper: with five and more rungs, where early epochs tell least, a smaller p gives what that saves to the
 * brackets that stop later (measured by `npm run bench -- tuning hyperband`).
 */
export function hyperband(context: HalvingContext): Scheduler {
  const count = context.rungs.length;
  const sizes = context.rungs.map((_, base) =>
    Math.ceil((count / (count - base)) * context.factor ** (count - 1 - base)),
  );
  const p = Math.min(1, 4 / count);
  const weights = sizes.map((size) => Math.ceil(size ** p));
  const fromOn = (values: readonly number[], base: number) => values.slice(base).reduce((sum, value) => sum + value, 0);
  const round = fromOn(sizes, 0);
  return bracketScheduler(
    {
      baseOf: (bracket) => bracket % count,
      sizeOf(bracket, left) {
        const base = bracket % count;
        const laterRounds = left === Infinity ? 0 : Math.max(0, Math.round((left - fromOn(sizes, base)) / round));
        const share = weights[base]! / (fromOn(weights, base) + laterRounds * fromOn(weights, 0));
        if (left === Infinity) return Math.round((round * weights[base]!) / fromOn(weights, 0));
        return Math.min(left, Math.max(1, Math.round(left * share)));
      },
    },
    context,
  );
}
