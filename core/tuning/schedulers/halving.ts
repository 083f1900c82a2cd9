import type { Objective } from "../history";
import type { Action, Scheduler, SchedulerTrial } from "../scheduler";
import { byNumber, comparable, hasResult, isSettledAt, rankAt } from "./rank";

interface HalvingContext {
  /** Epochs at which trials are compared, ascending. The last one is the maximum. */
  readonly rungs: readonly number[];
  /** η: one of `factor` trials leaves a rung. */
  readonly factor: number;
  readonly objective: Objective;
  /** Whether the sampler looks at results. Brackets then begin one after the other. */
  readonly usesHistory: boolean;
  /** Number of trials that may run at the same time. */
  readonly parallel: number;
}

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
 * brackets that stop later (measured on synthetic curves).
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

/**
 * Asynchronous successive halving (Li et al., 2020): a trial is resumed as soon as it is among the best 1 / η of those
 * that have reached its rung. No slot waits, and which trials are resumed depends on the order in which they finish. At
 * the end of the study the best trial of the highest rung continues where no trial has reached the maximum.
 */
export function asha({ rungs, factor, objective }: HalvingContext): Scheduler {
  function promotable(all: readonly SchedulerTrial[], rung: number, atEnd: boolean): readonly SchedulerTrial[] {
    const epoch = rungs[rung]!;
    const settled = all.filter((trial) => trial.until >= epoch && isSettledAt(trial, epoch));
    const keep = Math.max(atEnd && settled.length > 0 ? 1 : 0, Math.floor(settled.length / factor));
    return rankAt(settled, epoch, objective)
      .slice(0, keep)
      .filter(({ trial, loss }) => trial.state === "paused" && trial.until === epoch && loss < Infinity)
      .map(({ trial }) => trial);
  }

  return {
    next(trials, { free, mayCreate }) {
      const all = [...trials].sort(byNumber);
      const starts: Action[] = [];
      const promote = (atEnd: boolean) => {
        for (let rung = rungs.length - 2; rung >= 0; rung--) {
          for (const { number } of promotable(all, rung, atEnd)) {
            starts.push({ type: "resume", trial: number, until: rungs[rung + 1]! });
          }
          if (atEnd && starts.length > 0) break;
        }
      };
      promote(false);
      for (let created = 0; starts.length < free && created < mayCreate; created++) {
        starts.push({ type: "create", until: rungs[0]! });
      }
      const isIdle = all.every(({ state }) => state !== "running");
      if (starts.length === 0 && isIdle && all.every(({ until }) => until < rungs.at(-1)!)) promote(true);
      return starts.slice(0, free);
    },
    visibleHistory: (trials) => comparable(trials, rungs, hasResult),
  };
}

/** The rungs of each bracket, and how many trials enter it. */
interface BracketPlan {
  /** Returns the first rung of a bracket: an index into the epochs of the rungs. */
  baseOf(bracket: number): number;
  /** Returns the size of a bracket. A function of the trials that are left for it and all later brackets alone. */
  sizeOf(bracket: number, left: number): number;
}

/**
 * Runs brackets of synchronous successive halving (Jamieson and Talwalkar, 2016). A rung of n trials is decided when all
 * of them have reached it or failed: the best n / factor, at least one, are resumed and the others are stopped. Which
 * trials exist, and how far each trains, depends on their results and not on the order in which they finish. A trial is
 * resumed before its rung is whole if it would be among the best whatever the missing trials report.
 */
function bracketScheduler(plan: BracketPlan, context: HalvingContext): Scheduler {
  const { rungs, parallel } = context;
  // A trial sees the first rung of the waves before the previous one in its own bracket. Waves have as many trials as may
  // run at the same time, so that a slot waits only for a trial that takes twice as long as the others.
  const visibleMembers = (index: number) => Math.max(0, (Math.floor(index / parallel) - 1) * parallel);
  return {
    next(trials, { free, mayCreate }) {
      const brackets = groupByBracket(trials);
      const total = trials.length + mayCreate;
      const stopped: Action[] = [];
      const resumed: Action[] = [];
      const created: Action[] = [];
      let whole = 0;
      let before = 0;
      for (let bracket = 0; bracket < brackets.length || before < total; bracket++) {
        const members = brackets[bracket] ?? [];
        const until = rungs[plan.baseOf(bracket)]!;
        // A bracket keeps its size once a later one has begun or a trial has left its first rung, even if the study is
        // given more trials.
        const keepsSize = bracket < brackets.length - 1 || members.some((trial) => trial.until > until);
        const size = keepsSize ? members.length : Math.max(members.length, plan.sizeOf(bracket, total - before));
        const state = advance(members, bracket, members.length < size);
        stopped.push(...state.stopped);
        resumed.push(...state.resumed);
        if (state.isWhole && whole === bracket) whole++;
        if (members.length < size) {
          if (context.usesHistory && whole <= bracket - lag) break;
          const unsettled = members.findIndex((trial) => !isSettledAt(trial, until));
          const settled = unsettled < 0 ? members.length : unsettled;
          for (let index = members.length; index < size && created.length < free; index++) {
            if (context.usesHistory && visibleMembers(index) > settled) break;
            created.push({ type: "create", bracket, until });
          }
          if (created.length >= free) break;
        }
        before += size;
      }
      return [...stopped, ...[...resumed, ...created].slice(0, free)];
    },
    visibleHistory(trials, bracket = 0) {
      const members = groupByBracket(trials)[bracket] ?? [];
      const settled = new Set(members.slice(0, visibleMembers(members.length)));
      return comparable(trials, rungs, (trial) => (trial.bracket ?? 0) <= bracket - lag || settled.has(trial));
    },
  };

  function advance(members: readonly SchedulerTrial[], bracket: number, incomplete: boolean) {
    const resumed: Action[] = [];
    const stopped: Action[] = [];
    let entrants = members;
    let undecided = incomplete;
    for (let rung = plan.baseOf(bracket); rung < rungs.length - 1 && !undecided; rung++) {
      const epoch = rungs[rung]!;
      const settled = entrants.filter((trial) => isSettledAt(trial, epoch));
      const ranked = rankAt(settled, epoch, context.objective);
      const keep = Math.max(1, Math.round(entrants.length / context.factor));
      const waiting = entrants.length - settled.length;
      const promoted = ranked.filter(({ loss }, rank) => rank < keep - waiting && loss < Infinity);
      for (const { trial } of promoted) {
        if (trial.state === "paused" && trial.until === epoch) {
          resumed.push({ type: "resume", trial: trial.number, until: rungs[rung + 1]! });
        }
      }
      for (const [rank, { trial, loss }] of ranked.entries()) {
        if (waiting > 0 || trial.state !== "paused" || (rank < keep && loss < Infinity)) continue;
        const reason = `rank ${rank + 1} of ${entrants.length} at epoch ${epoch}, where ${keep} may continue`;
        stopped.push({ type: "stop", trial: trial.number, reason });
      }
      undecided = waiting > 0;
      entrants = promoted.map(({ trial }) => trial);
    }
    const isWhole = !undecided && entrants.every((trial) => isSettledAt(trial, rungs.at(-1)!));
    return { resumed, stopped, isWhole };
  }
}

/**
 * Number of brackets between the one that a sampler suggests trials for and the last one that it sees. One bracket runs
 * while the previous one has only few trials left, so that slots are not idle.
 */
const lag = 1;

function groupByBracket(trials: readonly SchedulerTrial[]): readonly (readonly SchedulerTrial[])[] {
  const count = trials.reduce((most, { bracket = 0 }) => Math.max(most, bracket + 1), 0);
  const brackets = Array.from({ length: count }, (): SchedulerTrial[] => []);
  for (const trial of [...trials].sort(byNumber)) brackets[trial.bracket ?? 0]!.push(trial);
  return brackets;
}
