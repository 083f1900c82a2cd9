import { covers, holdingsAt, isWhole, type RankState } from "./rank-state";

export type Agreement =
  /** Every rank takes the state after `step`. `source` has its weights; the ranks in `behind` need them. */
  | { readonly kind: "go-on"; readonly step: number; readonly source: number; readonly behind: readonly number[] }
  /** Some slots of the most advanced step are missing. Their holders may only be late: form the gang again. */
  | { readonly kind: "wait"; readonly step: number; readonly waited: number }
  /** All holders of some slots are lost: these ranks go back to the newest checkpoint; then all agree again. */
  | { readonly kind: "restore"; readonly step: number; readonly ranks: readonly number[] };

/** Formations with missing slots before these count as lost. A busy survivor may miss one formation and joins the next. */
export const patientFormations = 6;

/**
 * Decides from which state a generation continues. It is a function of the holdings of all members, so every rank decides
 * alike.
 *
 * The state is the most advanced step if its slots are complete. Otherwise some segment's two holders were lost together,
 * and the remaining members have only parts: they restore, unless the holders come back in time. A member with a complete
 * state (a newcomer from a checkpoint, or from step 0) keeps it; the most advanced of those states is then used.
 *
 * @param slotElements number of elements whose slots are needed to continue from a step; 0 if the optimizer keeps none
 */
export function agree(rankStates: readonly RankState[], slotElements: (step: number) => number): Agreement {
  const step = Math.max(...rankStates.map(({ finishedSteps }) => finishedSteps));
  const complete = covers(
    rankStates.flatMap((rankState) => holdingsAt(rankState, step)),
    slotElements(step),
  );
  const ranks = rankStates.map((_, rank) => rank);
  if (!complete) {
    const waited = Math.max(...rankStates.map((rankState) => rankState.waited));
    if (waited < patientFormations) return { kind: "wait", step, waited };
    return { kind: "restore", step, ranks: ranks.filter((rank) => !isWhole(rankStates[rank]!, slotElements(step))) };
  }
  const has = (rank: number) => rankStates[rank]!.finishedSteps === step;
  return { kind: "go-on", step, source: ranks.find(has)!, behind: ranks.filter((rank) => !has(rank)) };
}
