import type { LatencyReport } from "../../evaluation/latency";
import type { SlicedPredictions, Unjudged } from "../../evaluation/slices/judge";
import { answeredCheck, pendingCheck, verdictPassed } from "./external-check";
import { type MetChampion, noRegression } from "./no-regression";
import type { GateRequirements } from "./requirements";
import { latencyGate, sizeGate } from "./resources";
import { sliceGates } from "./slices";
import { threshold } from "./threshold";
import type { CheckAnswer, GateCheck, GateVerdict } from "./verdict";

/** The facts about a candidate. */
export interface GateSubject {
  readonly metrics: Readonly<Record<string, number>>;
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
  readonly champion?: MetChampion;
}

/** An external check's answer, or why there is none yet. */
export type CheckOutcome = { readonly answer: CheckAnswer } | { readonly unanswered: string };

/** Judges a candidate by all requirements. Pure. The verdict contains its evidence, every slice included. */
export function judge(
  requirements: GateRequirements,
  subject: GateSubject,
  outcomeOf: (check: GateRequirements["checks"][number]) => CheckOutcome,
  at: string,
): GateVerdict {
  const { thresholds, regression, latencyP99Ms, artifactBytes } = requirements;
  const { metrics, champion, lacking } = subject;
  const checks: readonly GateCheck[] = [
    ...Object.entries(thresholds).map(([metric, limit]) =>
      threshold(metric, metrics[metric], limit, subject.missingMetric),
    ),
    ...(champion ? [noRegression(champion, metrics, regression)] : []),
    ...sliceGates(requirements, subject.sliced, subject.identity),
    ...(latencyP99Ms === undefined ? [] : [latencyGate(latencyP99Ms, subject.latency, lacking)]),
    ...(artifactBytes === undefined ? [] : [sizeGate(artifactBytes, subject.artifactBytes, lacking)]),
    ...requirements.checks.map((check) => {
      const outcome = outcomeOf(check);
      if ("unanswered" in outcome) return pendingCheck(check, outcome.unanswered);
      return answeredCheck(pendingCheck(check, ""), outcome.answer);
    }),
  ];
  return { passed: verdictPassed(checks), checks, champion: champion?.version, at };
}
