import type { GateCheck, GateVerdict } from "./model";

/** Metrics of which less is better; of all others more is. */
const lessIsBetter = new Set(["logLoss", "rmse", "mae", "mse", "loss"]);

export interface GateInput {
  readonly metrics: Readonly<Record<string, number>>;
  /** Least accepted value, or most where less is better. */
  readonly thresholds: Readonly<Record<string, number>>;
  /** The model in production, unless the candidate is it. */
  readonly champion?: {
    readonly version: number;
    readonly metrics: Readonly<Record<string, number>>;
    /** Whether both were evaluated on the same rows; only then are their metrics comparable. */
    readonly sameEvaluationSet: boolean;
  };
  /** How much worse the primary metric may be than the champion's, absolute. */
  readonly tolerance: number;
  readonly at: string;
}

/** Holds a candidate against its thresholds and the champion. Pure; the verdict carries its evidence. */
export function judge(input: GateInput): GateVerdict {
  const checks = Object.entries(input.thresholds).map(([metric, limit]) =>
    threshold(metric, input.metrics[metric], limit),
  );
  if (input.champion) checks.push(noRegression(input.champion, input));
  return { passed: checks.every((check) => check.passed), checks, champion: input.champion?.version, at: input.at };
}

function threshold(metric: string, value: number | undefined, limit: number): GateCheck {
  const word = lessIsBetter.has(metric) ? "at most" : "at least";
  const passed = value !== undefined && better(metric, value, limit, 0);
  const evidence =
    value === undefined
      ? `${metric} was not measured: evaluation.thresholds.${metric} names a metric that this task does not have`
      : `${metric} is ${round(value)}, ${passed ? "as it must be:" : "but must be"} ${word} ${limit}`;
  return { gate: "threshold", metric, value: value ?? null, limit, passed, evidence };
}

function noRegression(champion: NonNullable<GateInput["champion"]>, input: GateInput): GateCheck {
  const metric = primaryMetric(input.metrics);
  const value = input.metrics[metric];
  const limit = champion.metrics[metric];
  if (!champion.sameEvaluationSet || value === undefined || limit === undefined) {
    return {
      gate: "no-regression",
      metric,
      value: value ?? null,
      limit: limit ?? null,
      passed: true,
      evidence: `not compared with version ${champion.version}: it was evaluated on other rows`,
    };
  }
  const passed = better(metric, value, limit, input.tolerance);
  const evidence = `${metric} is ${round(value)}, version ${champion.version} has ${round(limit)}, tolerance ${input.tolerance}: ${passed ? "no regression" : "a regression"}`;
  return { gate: "no-regression", metric, value, limit, passed, evidence };
}

/** What the task is judged by: accuracy where there are classes, else RMSE. */
function primaryMetric(metrics: Readonly<Record<string, number>>): string {
  return "accuracy" in metrics ? "accuracy" : "rmse";
}

/** NaN is never good enough. */
function better(metric: string, value: number, limit: number, tolerance: number): boolean {
  return lessIsBetter.has(metric) ? value <= limit + tolerance : value >= limit - tolerance;
}

function round(value: number): number {
  return Number(value.toPrecision(5));
}
