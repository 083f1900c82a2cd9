import type { EvaluationOutput } from "../core/evaluation/evaluate-model";
import { summaryMetrics } from "../core/evaluation/metrics";
import type { RunDetails } from "../core/runs/shapes";
import { findOutput } from "../core/runs/step";
import { testPrefix } from "../core/tracking/test-metrics";
import { formatNumber, printTable } from "./output";

/** Prints a few metrics of the test split, the job's own thresholds first; nothing for a run without evaluation. */
export function printTestMetrics(details: RunDetails): void {
  const evaluation = findOutput<EvaluationOutput>(details, "Evaluate");
  if (!evaluation) return;
  const { metrics } = evaluation;
  const names = summaryMetrics(metrics, details.run.job.evaluation.thresholds);
  if (names.length === 0) return;
  printTable(
    ["METRIC", "VALUE"],
    names.map((name) => [`${testPrefix}${name}`, formatNumber(metrics[name] ?? Number.NaN)]),
  );
}
