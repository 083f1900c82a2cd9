import { rocAucAndPrecision } from "../ranking";

/**
 * Numbers of a group of rows, each row counted by its weight: of the group itself every weight is 1, of a bootstrap resample it is how often the row
 * was drawn.
 */
export interface GroupStatistic {
  /** Numbers a group: 1 of a metric, of rates one a class and kind. */
  readonly components: number;
  /** Whether they lie between 0 and 1. */
  readonly bounded: boolean;
  /** Of these rows of the split: fills in the components, NaN where one is undefined. `weights` are in the rows' order. */
  of(rows: Uint32Array): (weights: Uint32Array, components: Float64Array) => void;
  /** Rows that a component is a share of: what its precision rests on. */
  trials(rows: Uint32Array, component: number): number;
}

/** A metric that needs one pass over rows. */
export function rowStatistic(
  bounded: boolean,
  measure: (rows: Uint32Array, weights: Uint32Array) => number,
): GroupStatistic {
  return {
    components: 1,
    bounded,
    of: (rows) => (weights, components) => {
      components[0] = measure(rows, weights);
    },
    trials: (rows) => rows.length,
  };
}

/** The mean of a number a row, or what `finish` makes of it. */
export function meanStatistic(
  bounded: boolean,
  outcomes: Float64Array,
  finish: (mean: number) => number = (mean) => mean,
): GroupStatistic {
  return rowStatistic(bounded, (rows, weights) => {
    let sum = 0;
    let total = 0;
    for (let at = 0; at < rows.length; at += 1) {
      const weight = weights[at]!;
      sum += weight * outcomes[rows[at]!]!;
      total += weight;
    }
    return finish(sum / total);
  });
}

/** Areas under the curves of one score against one class; macro over several. Rows are sorted once, not once a resample. */
export function rankingStatistic(
  curves: readonly {
    readonly scoreOf: (row: number) => number;
    readonly isPositive: (row: number) => boolean;
  }[],
  area: "rocAuc" | "averagePrecision",
): GroupStatistic {
  return {
    components: 1,
    bounded: true,
    of(rows) {
      const sorted = curves.map(({ scoreOf, isPositive }) => {
        const order = Uint32Array.from(rows.keys()).sort((a, b) => scoreOf(rows[b]!) - scoreOf(rows[a]!));
        return {
          order,
          scores: Float64Array.from(order, (at) => scoreOf(rows[at]!)),
          positives: Uint8Array.from(order, (at) => Number(isPositive(rows[at]!))),
        };
      });
      return (weights, components) => {
        let sum = 0;
        for (const { order, scores, positives } of sorted) {
          sum += rocAucAndPrecision(order, scores, positives, weights)[area];
        }
        components[0] = sum / sorted.length;
      };
    },
    trials: (rows) => rows.length,
  };
}
