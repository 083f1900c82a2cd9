import { sha256 } from "../../digest";
import { latencyRounds } from "../../evaluation/latency";
import { type Directions, lessIsBetter } from "../../evaluation/metric-goal";
import { classificationMetricNames, isBuiltIn, regressionMetricNames } from "../../evaluation/metrics";
import type { LatencyReport, SliceEvidence } from "../../evaluation/shapes";
import {
  rateDifference,
  type SlicedPredictions,
  sliceGap,
  type Unjudged,
  worstSlice,
} from "../../evaluation/slices/judge";
import type { FairnessRule, SliceRule } from "../../runs/gate-rules";
import { answeredCheck, pendingCheck, verdictPassed } from "./external-check";
import {
  type ComparedChampion,
  compared,
  noRegression,
  type RegressionRule,
  shownInterval,
  shownNumber,
} from "./no-regression";
import type { GateRequirements } from "./requirements";
import type { CheckAnswer, GateCheck, GateName, GateVerdict } from "./verdict";

/**
 * Judges slices; each result has its whole table.
 * @param sliced the predictions, or a sentence why there are none
 * @param identity identifies rows and model; makes the resamples a function of what is judged
 */
function sliceGates(
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

export interface CandidateFacts {
  readonly metrics: Readonly<Record<string, number>>;
  readonly primaryMetric: string;
  /** Explains why a metric is missing and what to do about it. */
  readonly missingMetric: (metric: string) => string;
  readonly sliced: SlicedPredictions | Unjudged;
  /** Identifies rows and model. */
  readonly identity: string;
  readonly latency?: LatencyReport;
  readonly artifactBytes?: number;
  /** Advice for an unknown latency or size. */
  readonly lacking: string;
  /** The model in production, unless it is the candidate. */
  readonly champion?: ComparedChampion;
}

export type CheckOutcome = { readonly answer: CheckAnswer } | { readonly unanswered: string };

/** Judges a candidate by all requirements. Pure. The verdict contains its evidence, every slice included. */
export function judge(
  requirements: GateRequirements,
  facts: CandidateFacts,
  outcomeOf: (check: GateRequirements["checks"][number]) => CheckOutcome,
  at: string,
): GateVerdict {
  const { thresholds, directions, regression, latencyP99Ms, artifactBytes } = requirements;
  const { metrics, champion, lacking } = facts;
  const checks: readonly GateCheck[] = [
    ...Object.entries(thresholds).map(([metric, limit]) =>
      threshold(metric, metrics[metric], limit, facts.missingMetric, directions),
    ),
    ...(champion
      ? regression.metrics.map((metric) => noRegression(champion, facts, regression, metric, directions))
      : []),
    ...sliceGates(requirements, facts.sliced, facts.identity),
    ...(latencyP99Ms === undefined ? [] : [latencyGate(latencyP99Ms, facts.latency, lacking)]),
    ...(artifactBytes === undefined ? [] : [sizeGate(artifactBytes, facts.artifactBytes, lacking)]),
    ...requirements.checks.map((check) => {
      const outcome = outcomeOf(check);
      if ("unanswered" in outcome) return pendingCheck(check, outcome.unanswered);
      return answeredCheck(pendingCheck(check, ""), outcome.answer);
    }),
  ];
  return { passed: verdictPassed(checks), checks, champion: champion?.version, at };
}

/** Explains why an evaluation lacks a metric. @param metrics those of the evaluation, without undefined ones */
export function missingMetric(metrics: Readonly<Record<string, number>>, metric: string): string {
  const names: readonly string[] = "rmse" in metrics ? regressionMetricNames : classificationMetricNames;
  const moduleNames = Object.keys(metrics).filter((name) => !isBuiltIn(name));
  return names.includes(metric)
    ? "it is undefined for the rows of the test split (docs/gates.md, Metrics)"
    : `this run has no metric of that name; it has ${[...names, ...moduleNames].join(", ")}`;
}

/** @param missing why the candidate lacks the metric, if it does */
export function threshold(
  metric: string,
  value: number | undefined,
  limit: number,
  missing: (metric: string) => string,
  directions?: Directions,
): GateCheck {
  const less = lessIsBetter(metric, directions);
  // NaN satisfies no limit.
  const passed = value !== undefined && (less ? value <= limit : value >= limit);
  const kept = value === undefined || !Number.isFinite(value) ? null : value;
  return { gate: "threshold", metric, value: kept, limit, passed, evidence: evidenceOf() };

  function evidenceOf(): string {
    if (value === undefined) return `${metric} has no value: ${missing(metric)}`;
    if (Number.isNaN(value)) return `${metric} is NaN; the limit is ${limit}`;
    const relation = less ? (passed ? "≤" : ">") : passed ? "≥" : "<";
    return `${metric} ${compared(value, relation, limit)}`;
  }
}

function latencyGate(limit: number, latency: LatencyReport | undefined, lacking: string): GateCheck {
  if (!latency) {
    return {
      gate: "latency",
      metric: "p99Ms",
      value: null,
      limit,
      passed: false,
      evidence: `latency was not measured: ${lacking}`,
    };
  }
  const { p50Ms, p99Ms, predictions, machine } = latency;
  const passed = p99Ms <= limit;
  const evidence =
    `p99 latency ${compared(p99Ms, passed ? "≤" : ">", limit)} ms, the median of ${latencyRounds} rounds; ${predictions} single-row predictions, ` +
    `p50 ${shownNumber(p50Ms)} ms, on ${machine.cpu}, ${machine.memoryMb} MB (${machine.host})`;
  return { gate: "latency", metric: "p99Ms", value: p99Ms, limit, passed, evidence };
}

function sizeGate(limit: number, bytes: number | undefined, lacking: string): GateCheck {
  const passed = bytes !== undefined && bytes <= limit;
  const evidence =
    bytes === undefined
      ? `the artifact's size is not known: ${lacking}`
      : `artifact size ${bytes} ${passed ? "≤" : ">"} ${limit} bytes`;
  return { gate: "size", metric: "bytes", value: bytes ?? null, limit, passed, evidence };
}
