import { latencyRounds } from "../../evaluation/latency";
import { type Directions, lessIsBetter } from "../../evaluation/metric-goal";
import { classificationMetricNames, isBuiltIn, regressionMetricNames } from "../../evaluation/metrics";
import type { LatencyReport } from "../../evaluation/shapes";
import type { SlicedPredictions, Unjudged } from "../../evaluation/slices/judge";
import { answeredCheck, pendingCheck, verdictPassed } from "./external-check";
import { type ComparedChampion, compared, noRegression, shownNumber } from "./no-regression";
import type { GateRequirements } from "./requirements";
import { sliceGates } from "./slices";
import type { CheckAnswer, GateCheck, GateVerdict } from "./verdict";

/** The facts about a candidate on which the gates decide. */
export interface CandidateFacts {
  readonly metrics: Readonly<Record<string, number>>;
  /** The metric that suits the task. */
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

/** An external check's answer, or why there is none yet. */
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

/**
 * Explains why the evaluation of a training lacks a metric.
 *
 * @param metrics the metrics of the evaluation, without undefined ones
 */
export function missingMetric(metrics: Readonly<Record<string, number>>, metric: string): string {
  const names: readonly string[] = "rmse" in metrics ? regressionMetricNames : classificationMetricNames;
  const own = Object.keys(metrics).filter((name) => !isBuiltIn(name));
  return names.includes(metric)
    ? "it is undefined for the rows of the test split (docs/gates.md, Metrics)"
    : `this run has no metric of that name; it has ${[...names, ...own].join(", ")}`;
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

/** Limits the p99 of single predictions, on the machine that measured. */
export function latencyGate(limit: number, latency: LatencyReport | undefined, lacking: string): GateCheck {
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

/** Limits the bytes of all files that serving loads. */
export function sizeGate(limit: number, bytes: number | undefined, lacking: string): GateCheck {
  const passed = bytes !== undefined && bytes <= limit;
  const evidence =
    bytes === undefined
      ? `the artifact's size is not known: ${lacking}`
      : `artifact size ${bytes} ${passed ? "≤" : ">"} ${limit} bytes`;
  return { gate: "size", metric: "bytes", value: bytes ?? null, limit, passed, evidence };
}
