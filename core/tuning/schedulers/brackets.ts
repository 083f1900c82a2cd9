import type { Action, Scheduler, SchedulerTrial } from "../scheduler";
import { comparable } from "./comparable";
import { byNumber, isSettledAt, rankAt } from "./rank";
import type { HalvingContext } from "./rungs";

/** The rungs of each bracket, and how many trials enter it. */
export interface BracketPlan {
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
export function bracketScheduler(plan: BracketPlan, context: HalvingContext): Scheduler {
  const { rungs } = context;
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
          const count = Math.min(size - members.length, free - created.length);
          created.push(...Array.from({ length: count }, (): Action => ({ type: "create", bracket, until })));
          if (created.length >= free) break;
        }
        before += size;
      }
      return [...stopped, ...[...resumed, ...created].slice(0, free)];
    },
    visibleHistory: (trials, bracket = 0) =>
      comparable(trials, rungs, (trial) => (trial.bracket ?? 0) <= bracket - lag),
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
