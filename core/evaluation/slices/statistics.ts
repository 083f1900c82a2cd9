import { classMetricsOf, macroAverage, weightedAverage } from "../classification";
import { type Predictions, predictedClasses, probabilityOf } from "../metrics";
import { rocAucAndPrecision } from "../ranking";

/** 2^-23: machine epsilon of float32, as in the log-loss of the whole split. */
const epsilon = 2 ** -23;

/**
 * Builds the statistic of a metric; its values equal `metricsOf` for the group alone. `undefined` if the task has no
 * such metric.
 */
export function metricStatistic(metric: string, predictions: Predictions): GroupStatistic | undefined {
  return predictions.classes === 0 ? valueStatistic(metric, predictions) : classStatistic(metric, predictions);
}

function valueStatistic(metric: string, { labels, outputs }: Predictions): GroupStatistic | undefined {
  const errorOf = (row: number): number => outputs[row]! - labels[row]!;
  if (metric === "rmse") {
    return meanStatistic(
      false,
      Float64Array.from(labels, (_, row) => errorOf(row) ** 2),
      Math.sqrt,
    );
  }
  if (metric === "mae")
    return meanStatistic(
      false,
      Float64Array.from(labels, (_, row) => Math.abs(errorOf(row))),
    );
  if (metric !== "r2") return undefined;
  return rowStatistic(false, (rows, weights) => {
    const first = labels[rows[0]!]!;
    let total = 0;
    let sum = 0;
    for (let at = 0; at < rows.length; at += 1) {
      total += weights[at]!;
      sum += weights[at]! * (labels[rows[at]!]! - first);
    }
    const mean = first + sum / total;
    let squares = 0;
    let spread = 0;
    for (let at = 0; at < rows.length; at += 1) {
      squares += weights[at]! * errorOf(rows[at]!) ** 2;
      spread += weights[at]! * (labels[rows[at]!]! - mean) ** 2;
    }
    if (total < 2) return Number.NaN;
    return spread === 0 ? (squares === 0 ? 1 : 0) : 1 - squares / spread;
  });
}

const averages = { precision: "precision", recall: "recall", f1: "f1" } as const;

function classStatistic(metric: string, predictions: Predictions): GroupStatistic | undefined {
  const { classes, labels, positive = 1 } = predictions;
  if (metric === "logLoss") {
    const loss = (_: number, row: number): number =>
      -Math.log(Math.min(Math.max(probabilityOf(predictions, row, labels[row]!), epsilon), 1 - epsilon));
    return meanStatistic(false, Float64Array.from(labels, loss));
  }
  if (metric === "auc" || metric === "prAuc") {
    const ranked = classes === 2 ? [positive] : Array.from({ length: classes }, (_, index) => index);
    return rankingStatistic(
      ranked.map((index) => ({
        scoreOf: (row: number) => probabilityOf(predictions, row, index),
        isPositive: (row: number) => labels[row] === index,
      })),
      metric === "auc" ? "rocAuc" : "averagePrecision",
    );
  }
  const predicted = predictedClasses(predictions);
  if (metric === "accuracy") {
    return meanStatistic(
      true,
      Float64Array.from(labels, (label, row) => Number(predicted[row] === label)),
    );
  }
  const [, name, kind] = /^(precision|recall|f1)(|Macro|Weighted)$/.exec(metric) ?? [];
  const key = averages[name as keyof typeof averages];
  if (key === undefined) return undefined;
  const count = classCounter(predictions, predicted);
  return rowStatistic(true, (rows, weights) => {
    const { hits, support, answers } = count(rows, weights);
    const of = (index: number) => classMetricsOf(hits[index]!, support[index]!, answers[index]!);
    if (kind === "" && classes === 2) return of(positive)[key];
    const each = Array.from(hits, (_, index) => of(index));
    return (kind === "Weighted" ? weightedAverage(each) : macroAverage(each))[key];
  });
}

/** The class and the rate of a component. */
export interface RateComponent {
  readonly rate: "selection" | "true-positive" | "false-positive";
  readonly positive: number;
}

/**
 * Builds rates of the classes, each against the rest. Selection: the share of rows that are predicted as the class.
 * True-positive: the same among rows of the class. False-positive: the same among rows of other classes. Undefined if a
 * group has no such rows.
 */
export function rateStatistic(components: readonly RateComponent[], predictions: Predictions): GroupStatistic {
  const { labels } = predictions;
  const predicted = predictedClasses(predictions);
  const count = classCounter(predictions, predicted);
  return {
    components: components.length,
    bounded: true,
    of: (rows) => (weights, estimates) => {
      const { hits, support, answers, total } = count(rows, weights);
      for (let index = 0; index < components.length; index += 1) {
        const { rate, positive: at } = components[index]!;
        if (rate === "selection") estimates[index] = answers[at]! / total;
        else if (rate === "true-positive") estimates[index] = hits[at]! / support[at]!;
        else estimates[index] = (answers[at]! - hits[at]!) / (total - support[at]!);
      }
    },
    trials(rows, component) {
      const { rate, positive } = components[component]!;
      if (rate === "selection") return rows.length;
      let ofClass = 0;
      for (const row of rows) ofClass += Number(labels[row] === positive);
      return rate === "true-positive" ? ofClass : rows.length - ofClass;
    },
  };
}

interface ClassCounts {
  /** Weights for each class: of correct predictions, of labels, of predictions. */
  readonly hits: Float64Array;
  readonly support: Float64Array;
  readonly answers: Float64Array;
  total: number;
}

/** Counts into the same arrays on every call, because resamples are counted thousands of times. */
function classCounter(
  { classes, labels }: Predictions,
  predicted: Int32Array,
): (rows: Uint32Array, weights: Uint32Array) => ClassCounts {
  const hits = new Float64Array(classes);
  const support = new Float64Array(classes);
  const answers = new Float64Array(classes);
  const counts: ClassCounts = { hits, support, answers, total: 0 };
  return (rows, weights) => {
    hits.fill(0);
    support.fill(0);
    answers.fill(0);
    let total = 0;
    for (let at = 0; at < rows.length; at += 1) {
      const weight = weights[at]!;
      const label = labels[rows[at]!]!;
      const answer = predicted[rows[at]!]!;
      total += weight;
      support[label]! += weight;
      answers[answer]! += weight;
      if (label === answer) hits[label]! += weight;
    }
    counts.total = total;
    return counts;
  };
}

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
function rowStatistic(bounded: boolean, measure: (rows: Uint32Array, weights: Uint32Array) => number): GroupStatistic {
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
function rankingStatistic(
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
