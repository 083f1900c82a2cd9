import { sha256 } from "../../digest";
import { lessIsBetter } from "../../evaluation/metric-goal";
import type { SliceEvidence } from "../../evaluation/shapes";
import {
  rateDifference,
  type SlicedPredictions,
  sliceGap,
  type Unjudged,
  worstSlice,
} from "../../evaluation/slices/judge";
import type { FairnessRule, SliceRule } from "../../runs/gate-rules";
import { type RegressionRule, shownInterval, shownNumber } from "./no-regression";
import type { GateRequirements } from "./requirements";
import type { GateCheck, GateName } from "./verdict";

/**
 * Judges slices; each result has its whole table.
 *
 * @param sliced the predictions, or a sentence why there are none
 * @param identity identifies rows and model; makes the resamples a function of what is judged
 */
export function sliceGates(
  { slices, fairness }: Pick<GateRequirements, "slices" | "fairness">,
  sliced: SlicedPredictions | Unjudged,
  identity: string,
): readonly GateCheck[] {
  const judge = (
    of: SliceGate,
    measure: (predictions: SlicedPredictions, seed: number) => SliceEvidence | Unjudged,
  ) => {
    const seed = Number.parseInt(sha256(`${identity} ${of.gate} ${of.column} ${of.what}`).slice(0, 8), 16);
    return checkOf(of, "reason" in sliced ? sliced : measure(sliced, seed));
  };
  return [
    ...slices.flatMap((rule) => ofMetric(rule).map((of) => judge(of, measureMetric(rule, of.gate)))),
    ...fairness.flatMap((rule) => ofRates(rule).map((of) => judge(of, measureRates(rule, of.gate)))),
  ];
}

interface SliceGate {
  readonly gate: GateName;
  readonly column: string;
  /** Metric, or positive class. */
  readonly what: string;
  readonly limit: number;
  readonly rule: RegressionRule;
}

function ofMetric({ column, metric, worst, gap, rule = "credible" }: SliceRule): readonly SliceGate[] {
  const of = { column, what: metric, rule };
  return [
    ...(worst === undefined ? [] : [{ ...of, gate: "worst-slice" as const, limit: worst }]),
    ...(gap === undefined ? [] : [{ ...of, gate: "slice-gap" as const, limit: gap }]),
  ];
}

function ofRates({ column, positive, demographicParity, equalizedOdds, rule = "credible" }: FairnessRule) {
  const of = { column, what: positive === undefined ? "" : String(positive), rule };
  const gates: SliceGate[] = [];
  if (demographicParity !== undefined) gates.push({ ...of, gate: "demographic-parity", limit: demographicParity });
  if (equalizedOdds !== undefined) gates.push({ ...of, gate: "equalized-odds", limit: equalizedOdds });
  return gates;
}

function measureMetric({ column, metric, minRows }: SliceRule, gate: GateName) {
  const measure = gate === "worst-slice" ? worstSlice : sliceGap;
  return (sliced: SlicedPredictions, seed: number) => measure(sliced, { column, metric, minRows, seed });
}

function measureRates({ column, positive, minRows }: FairnessRule, gate: GateName) {
  const kind = gate === "demographic-parity" ? gate : "equalized-odds";
  return (sliced: SlicedPredictions, seed: number) => rateDifference(sliced, { column, positive, minRows, seed, kind });
}

const differenceNames: Partial<Record<GateName, string>> = {
  "demographic-parity": "demographic parity difference",
  "equalized-odds": "equalised odds difference",
};

function checkOf(of: SliceGate, evidence: SliceEvidence | Unjudged): GateCheck {
  const { gate, column, what, limit, rule } = of;
  const name = differenceNames[gate] ?? what;
  const check = { gate, metric: differenceNames[gate] ? gate : what, limit };
  if ("reason" in evidence) {
    return {
      ...check,
      value: null,
      passed: false,
      evidence: `${name} by ${column} cannot be evaluated: ${evidence.reason}`,
    };
  }
  // The direction that is refused: up for differences and for metrics of which less is better.
  const up = gate !== "worst-slice" || lessIsBetter(what);
  const { lower, upper } = evidence;
  const passed = rule === "credible" ? (up ? lower <= limit : upper >= limit) : up ? upper <= limit : lower >= limit;
  return { ...check, value: evidence.estimate, passed, evidence: sentence(of, evidence, passed, up), slices: evidence };
}

function sentence(
  { gate, column, what, limit, rule }: SliceGate,
  evidence: SliceEvidence,
  passed: boolean,
  up: boolean,
): string {
  const { estimate, slices, judged, leftOut, minimumRows, positive, rate } = evidence;
  const [first, second] = slices;
  const rates = rate === undefined ? "" : `${rate} rate of ${positive} `;
  const named = (at: typeof first) =>
    `${column} = ${at?.value}: ${gate === "worst-slice" ? `${what} ` : rates}${shownNumber(at?.estimate ?? Number.NaN)} over ${at?.rows} rows`;
  const measured =
    gate === "worst-slice"
      ? `worst of ${judged} slices: ${named(first)}`
      : `${differenceNames[gate] ?? `${what} gap`} ${shownNumber(estimate)} between ${judged} slices (${named(first)}; ${named(second)})`;
  const left = leftOut === 0 ? "" : `; left out: ${leftOut} with fewer than ${minimumRows} rows that count`;
  const bound = `the ${up ? "maximum" : "minimum"} ${shownNumber(limit)}`;
  const beyond = up ? "above" : "below";
  const ruling =
    rule === "credible"
      ? `the interval is ${passed ? "not entirely" : "entirely"} ${beyond} ${bound}`
      : passed
        ? `no part of the interval is ${beyond} ${bound}`
        : `part of the interval is ${beyond} ${bound}`;
  return `${measured}, ${shownInterval(evidence)}; ${ruling}${left}`;
}
