import { lossesOf, type Objective, type ObservedTrial } from "../history";

/** A value of a trial during its training, as a loss without the trend that all trials share. */
export interface Observation {
  readonly trial: ObservedTrial;
  /** See `ObservedTrial.curve`. */
  readonly at: number;
  readonly loss: number;
}

/**
 * Returns the values of trials at all epochs at which they were compared, also of trials that were stopped. The shared
 * trend is removed: the median change, from one of these epochs to the next, of the trials that have both. Only better
 * trials have a later value, so the change of the median would not be the trend. A trial without a curve, of an earlier
 * study, counts with its value at the end.
 */
export function detrended(history: readonly ObservedTrial[], objective: Objective): readonly Observation[] {
  const sign = objective.direction === "maximize" ? -1 : 1;
  const trials = history.map((trial) => ({ trial, losses: lossesByPlace(trial, objective, sign) }));
  const places = [...new Set(trials.flatMap(({ losses }) => [...losses.keys()]))].sort((a, b) => a - b);
  const trend = new Map<number, number>();
  for (const [i, at] of places.entries()) {
    const before = places[i - 1] ?? at;
    const changes = trials.flatMap(({ losses }) => {
      const [from, to] = [losses.get(before), losses.get(at)];
      return from === undefined || to === undefined ? [] : [to - from];
    });
    trend.set(at, (trend.get(before) ?? 0) + upperMedian(changes));
  }
  return trials.flatMap(({ trial, losses }) =>
    [...losses].map(([at, loss]) => ({ trial, at, loss: loss - (trend.get(at) as number) })),
  );
}

function lossesByPlace(trial: ObservedTrial, objective: Objective, sign: number): ReadonlyMap<number, number> {
  if (trial.curve) return new Map(trial.curve.map(({ at, value }) => [at, sign * value]));
  const [loss] = lossesOf(trial, [objective]) ?? [];
  return new Map(loss === undefined ? [] : [[1, loss]]);
}

function upperMedian(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
