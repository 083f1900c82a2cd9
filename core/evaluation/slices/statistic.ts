import { rocAucAndPrecision } from "../ranking";

/**
 * Statistics of a group of rows with weights. In the group itself every weight is 1; in a bootstrap resample the weight
 * is how often the row was drawn.
 */
export interface GroupStatistic {
  /** Numbers for each group: 1 for a metric; for rates, one for each class and kind. */
  readonly components: number;
  /** Whether all components lie between 0 and 1. */
  readonly bounded: boolean;
  /**
   * Returns a function that fills in the components of these rows, with NaN if undefined. `weights` are in the rows'
   * order.
   */
  of(rows: Uint32Array): (weights: Uint32Array, components: Float64Array) => void;
  /** Returns the number of rows of which a component is a share. It determines the component's precision. */
  trials(rows: Uint32Array, component: number): number;
}

/** Builds a metric that needs one pass over the rows. */
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

/** Builds the mean of one number for each row; `finish` transforms it. */
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

/**
 * Builds areas under the curves of one score against one class; macro for several classes. Rows are sorted once, not in
 * every resample.
 */
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
