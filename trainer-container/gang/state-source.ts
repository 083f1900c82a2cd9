/** The replica whose state all ranks adopt: the highest finished step, and the lowest rank on ties. */
export interface StateSource {
  readonly source: number;
  readonly finishedSteps: number;
  /** Ranks behind it, ascending. */
  readonly behind: readonly number[];
}

/** @param finishedSteps by rank. */
export function stateSource(finishedSteps: readonly number[]): StateSource {
  const furthest = Math.max(...finishedSteps);
  return {
    source: finishedSteps.indexOf(furthest),
    finishedSteps: furthest,
    behind: finishedSteps.flatMap((steps, rank) => (steps < furthest ? [rank] : [])),
  };
}
