import type { Span } from "./segments";

/** Slots of these elements after `step` finished steps. */
export interface Holding extends Span {
  readonly step: number;
}

/** The part of the training's state on one rank. The state after a step is a function of that step, so equal holdings have equal bits. */
export interface RankState {
  /** Step of its weights, which are complete. */
  readonly finishedSteps: number;
  readonly holdings: readonly Holding[];
  /** Number of formations in which it waited in vain for the holders of missing slots. */
  readonly waited: number;
}

/** Encodes the state as numbers to send: finished steps, waits, then start, end and step of each holding. */
export function encodeRankState({ finishedSteps, holdings, waited }: RankState): Float64Array {
  return Float64Array.from([finishedSteps, waited, ...holdings.flatMap(({ start, end, step }) => [start, end, step])]);
}

export function decodeRankState(numbers: Float64Array): RankState {
  const holdings: Holding[] = [];
  for (let i = 2; i + 2 < numbers.length; i += 3) {
    holdings.push({ start: numbers[i] as number, end: numbers[i + 1] as number, step: numbers[i + 2] as number });
  }
  return { finishedSteps: numbers[0] as number, holdings, waited: numbers[1] as number };
}

/** Whether the spans together cover [0, elements). */
export function covers(spans: readonly Span[], elements: number): boolean {
  let reached = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start > reached) break;
    reached = Math.max(reached, end);
  }
  return reached >= elements;
}

/** Returns the parts of the state that a rank holds at a number of finished steps. */
export function holdingsAt(rankState: RankState, step: number): readonly Holding[] {
  return rankState.holdings.filter((holding) => holding.step === step);
}

/** Whether the rank has all of the state at its own finished steps. */
export function isWhole(rankState: RankState, slotElements: number): boolean {
  return covers(holdingsAt(rankState, rankState.finishedSteps), slotElements);
}
