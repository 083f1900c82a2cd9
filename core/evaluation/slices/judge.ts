import type { Category } from "../../datasets/profile";
import { lessIsBetter } from "../metric-goal";
import type { Predictions } from "../metrics";
import type { SliceEvidence, SliceRow } from "../shapes";
import {
  confidence,
  criticalOfGroups,
  drawGroups,
  type GroupDraws,
  largestDifference,
  resamplesOf,
} from "./simultaneous";
import { type GroupStatistic, metricStatistic, type RateComponent, rateStatistic } from "./statistics";

export interface SlicedPredictions {
  readonly predictions: Predictions;
  readonly classes: readonly Category[];
  readonly columns: readonly {
    readonly column: string;
    readonly values: readonly (Category | null)[];
    /** `[rows]`: index into `values`. */
    readonly codes: Int32Array;
  }[];
}

/** The reason why there is no evidence, as a sentence. */
export interface Unjudged {
  readonly reason: string;
}

/** Maximum number of slices. A column with more values should be grouped first. */
const maxSlices = 500;

interface SliceRequest {
  readonly column: string;
  readonly minRows: number;
  readonly seed: number;
}

/** Finds the slice with the worst metric. Returns evidence for every slice, worst first. */
export function worstSlice(
  sliced: SlicedPredictions,
  request: SliceRequest & { readonly metric: string },
): SliceEvidence | Unjudged {
  const measurement = measure(sliced, request, metricStatistic(request.metric, sliced.predictions), 1);
  if ("reason" in measurement) return measurement;
  const less = lessIsBetter(request.metric);
  const rows = rowsOf(measurement, 0).sort((a, b) => (less ? b.estimate - a.estimate : a.estimate - b.estimate));
  const worst = less ? Math.max : Math.min;
  return {
    ...frameOf(measurement, request),
    estimate: rows[0]!.estimate,
    lower: worst(...rows.map(({ lower }) => lower)),
    upper: worst(...rows.map(({ upper }) => upper)),
    slices: rows,
  };
}

/** Finds the metric's largest difference between two slices. */
export function sliceGap(
  sliced: SlicedPredictions,
  request: SliceRequest & { readonly metric: string },
): SliceEvidence | Unjudged {
  const measurement = measure(sliced, request, metricStatistic(request.metric, sliced.predictions), 2);
  if ("reason" in measurement) return measurement;
  const largest = differenceOf(measurement, request);
  return "reason" in largest ? largest : largest.evidence;
}

/**
 * Computes a fairness difference.
 *
 * Demographic parity difference: the largest difference in the selection rate P(ŷ = c | slice) (Dwork et al., 2012;
 * fairlearn's `demographic_parity_difference`). Equalised odds difference: the larger of the largest differences in P(ŷ
 * = c | y = c, slice) and in P(ŷ = c | y ≠ c, slice) (Hardt, Price and Srebro, 2016; fairlearn's
 * `equalized_odds_difference`). c is `positive`. Without `positive`, c is the second of two classes; of more classes,
 * the one for which the difference against the rest is largest.
 *
 * A rate without rows in a slice is omitted; fairlearn uses 0 for it.
 */
export function rateDifference(
  sliced: SlicedPredictions,
  request: SliceRequest & { readonly kind: "demographic-parity" | "equalized-odds"; readonly positive?: Category },
): SliceEvidence | Unjudged {
  const { classes, predictions } = sliced;
  if (predictions.classes === 0) return { reason: "rates need a label with classes, and this label is of type float" };
  const index = request.positive === undefined ? -1 : classes.indexOf(request.positive);
  if (request.positive !== undefined && index < 0) {
    return {
      reason: `${JSON.stringify(request.positive)} is not a class of the label; the classes are ${classes.slice(0, 20).join(", ")}`,
    };
  }
  const positives = index >= 0 ? [index] : classes.length === 2 ? [1] : classes.map((_, each) => each);
  const rates =
    request.kind === "demographic-parity" ? (["selection"] as const) : (["true-positive", "false-positive"] as const);
  const components: readonly RateComponent[] = positives.flatMap((positive) =>
    rates.map((rate) => ({ rate, positive })),
  );
  const measurement = measure(sliced, request, rateStatistic(components, predictions), 2);
  if ("reason" in measurement) return measurement;
  const largest = differenceOf(measurement, request);
  if ("reason" in largest) return largest;
  const { rate, positive } = components[largest.component]!;
  return { ...largest.evidence, positive: classes[positive]!, rate };
}

interface Measured {
  readonly draws: GroupDraws;
  readonly groups: readonly { readonly value: Category | null; readonly rows: Uint32Array }[];
  readonly bounded: boolean;
  readonly leftOut: number;
}

/** Draws the statistic for each slice with enough rows. At least `minGroups` slices must have a value. */
function measure(
  { columns }: SlicedPredictions,
  { column, minRows, seed }: SliceRequest,
  statistic: GroupStatistic | undefined,
  minGroups: number,
): Measured | Unjudged {
  const entry = columns.find((each) => each.column === column);
  if (!entry) return { reason: `the evaluation has no slices by ${column}; add it to the job's evaluation.slices` };
  if (!statistic) return { reason: "this task has no metric of that name" };
  const all = membersOf(entry);
  const groups = all.filter(({ rows }) => rows.length >= minRows);
  if (groups.length < minGroups) {
    return {
      reason:
        `${groups.length === 0 ? "no slice" : "only one slice"} by ${column} has at least ${minRows} rows in the test split; ` +
        "use more rows, or a smaller minRows",
    };
  }
  if (groups.length > maxSlices) {
    return {
      reason: `${column} has ${groups.length} values, at most ${maxSlices} slices are evaluated; group the values in a column`,
    };
  }
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const comparisons = (groups.length ** 2 / 2) * statistic.components;
  const draws = drawGroups(
    statistic,
    groups.map((group) => group.rows),
    resamplesOf(rows, comparisons),
    seed,
  );
  const judged = groups.filter((_, at) => definedIn(draws, at)).length;
  if (judged < minGroups)
    return { reason: `it is defined for ${judged === 0 ? "no slice" : "only one slice"} by ${column}` };
  return {
    draws,
    groups,
    bounded: statistic.bounded,
    leftOut: all.filter(({ rows: { length } }) => length > 0).length - judged,
  };
}

function membersOf({ values, codes }: SlicedPredictions["columns"][number]): Measured["groups"] {
  const members = values.map((): number[] => []);
  for (let row = 0; row < codes.length; row += 1) members[codes[row]!]?.push(row);
  return values.map((value, at) => ({ value, rows: Uint32Array.from(members[at]!) }));
}

function definedIn({ estimates, components }: GroupDraws, group: number): boolean {
  for (let at = group * components; at < (group + 1) * components; at += 1)
    if (!Number.isNaN(estimates[at]!)) return true;
  return false;
}

/** Returns the slices' values of a component, with simultaneous intervals. */
function rowsOf({ draws, groups, bounded }: Measured, component: number): SliceRow[] {
  const critical = criticalOfGroups(draws);
  const clamp = (value: number): number => (bounded ? Math.min(1, Math.max(0, value)) : value);
  return groups.flatMap(({ value, rows }, group) => {
    const at = group * draws.components + component;
    const estimate = draws.estimates[at]!;
    if (Number.isNaN(estimate)) return [];
    const reach = critical * draws.errors[at]!;
    return [{ value, rows: rows.length, estimate, lower: clamp(estimate - reach), upper: clamp(estimate + reach) }];
  });
}

/** Returns evidence of the largest difference, and its component. */
function differenceOf(
  measurement: Measured,
  request: SliceRequest,
): { readonly evidence: SliceEvidence; readonly component: number } | Unjudged {
  const largest = largestDifference(measurement.draws);
  if (!largest) return { reason: `it is defined for fewer than two slices by ${request.column}` };
  const { component, estimate, lower, upper, pair } = largest;
  const ends = pair.map((group) => measurement.groups[group]!.value);
  const rank = ({ value }: SliceRow): number => (value === ends[0] ? 0 : value === ends[1] ? 1 : 2);
  const slices = rowsOf(measurement, component).sort((a, b) => rank(a) - rank(b) || b.estimate - a.estimate);
  const capped = measurement.bounded ? Math.min(1, upper) : upper;
  return { evidence: { ...frameOf(measurement, request), estimate, lower, upper: capped, slices }, component };
}

function frameOf({ draws, groups, leftOut }: Measured, { column, minRows, seed }: SliceRequest) {
  const judged = groups.filter((_, at) => definedIn(draws, at));
  return {
    column,
    confidence,
    resamples: draws.resamples,
    seed,
    rows: judged.reduce((sum, { rows }) => sum + rows.length, 0),
    minimumRows: minRows,
    judged: judged.length,
    leftOut,
  };
}
