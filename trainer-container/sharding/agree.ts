import { covers, holdingsAt, isWhole, type Standing } from "./rank-state";

export type Agreement =
  /** Every rank takes the state after `step`; `source` has its weights, `behind` have not. */
  | { readonly kind: "go-on"; readonly step: number; readonly source: number; readonly behind: readonly number[] }
  /** Some slots of the furthest step are with no member. Whoever has them may only be late: form anew. */
  | { readonly kind: "wait"; readonly step: number; readonly waited: number }
  /** They are lost with all their holders: these ranks go back to the newest checkpoint; then all look again. */
  | { readonly kind: "restore"; readonly step: number; readonly ranks: readonly number[] };

/** Formations without some slots before they are given up. A busy survivor is sealed out of one easily, and is back with the next. */
export const patientFormations = 6;

/**
 * Which state a generation goes on from, a function of what all its members hold: every rank decides alike.
 *
 * It is the furthest step wherever its slots are complete among them. Where they are not, some segment's two holders were lost together,
 * and the members that are left have only parts: they restore, unless the others come back in time. A member that has a whole state (a newcomer from a
 * checkpoint, or from step 0) keeps it; the furthest of those wins then.
 *
 * @param slotElements elements whose slots are needed to go on from a step; 0 where the optimizer keeps none.
 */
export function agree(standings: readonly Standing[], slotElements: (step: number) => number): Agreement {
  const step = Math.max(...standings.map(({ finishedSteps }) => finishedSteps));
  const complete = covers(
    standings.flatMap((standing) => holdingsAt(standing, step)),
    slotElements(step),
  );
  const ranks = standings.map((_, rank) => rank);
  if (!complete) {
    const waited = Math.max(...standings.map((standing) => standing.waited));
    if (waited < patientFormations) return { kind: "wait", step, waited };
    return { kind: "restore", step, ranks: ranks.filter((rank) => !isWhole(standings[rank]!, slotElements(step))) };
  }
  const has = (rank: number) => standings[rank]!.finishedSteps === step;
  return { kind: "go-on", step, source: ranks.find(has)!, behind: ranks.filter((rank) => !has(rank)) };
}
