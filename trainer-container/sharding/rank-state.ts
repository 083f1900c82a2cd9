import type { Span } from "./segments";

/** Slots of these elements, as they are after `step` finished steps. */
export interface Holding extends Span {
  readonly step: number;
}

/** What one rank has of the training's state. State after a step is a function of that step, so equal holdings have equal bits. */
export interface Standing {
  /** Its weights, all of them, are as after so many steps. */
  readonly finishedSteps: number;
  readonly holdings: readonly Holding[];
  /** How often it has waited in vain for members that hold what is missing. */
  readonly waited: number;
}

/** As numbers, to be sent to the others: finished steps, waits, then start, end and step of each holding. */
export function encodeStanding({ finishedSteps, holdings, waited }: Standing): Float64Array {
  return Float64Array.from([finishedSteps, waited, ...holdings.flatMap(({ start, end, step }) => [start, end, step])]);
}

export function decodeStanding(numbers: Float64Array): Standing {
  const holdings: Holding[] = [];
  for (let i = 2; i + 2 < numbers.length; i += 3) {
    holdings.push({ start: numbers[i] as number, end: numbers[i + 1] as number, step: numbers[i + 2] as number });
  }
  return { finishedSteps: numbers[0] as number, holdings, waited: numbers[1] as number };
}

/** Whether spans cover [0, elements) together. */
export function covers(spans: readonly Span[], elements: number): boolean {
  let reached = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    if (start > reached) break;
    reached = Math.max(reached, end);
  }
  return reached >= elements;
}

export function holdingsAt(standing: Standing, step: number): readonly Holding[] {
  return standing.holdings.filter((holding) => holding.step === step);
}

/** Has all of the state at its own finished steps. */
export function isWhole(standing: Standing, slotElements: number): boolean {
  return covers(holdingsAt(standing, standing.finishedSteps), slotElements);
}
