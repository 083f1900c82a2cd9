import type { ChampionComparison } from "../evaluation/champion";
import type { GateCheck, GateVerdict } from "./gates/verdict";

/** Metrics of which less is better; of all others more is. */
const lessIsBetter = new Set(["logLoss", "rmse", "mae", "mse", "loss"]);

export interface GateInput {
  readonly metrics: Readonly<Record<string, number>>;
  /** Least accepted value, or most where less is better. */
  readonly thresholds: Readonly<Record<string, number>>;
  /** The model in production, unless the candidate is it. */
  readonly champion?: {
    readonly version: number;
    /** `same`: it has the candidate's very weights. */
    readonly comparison: ChampionComparison | "same";
  };
  /** How much worse the primary metric may be than the champion's, absolute. */
  readonly tolerance: number;
  readonly regressionRule: "credible" | "excluded";
  readonly incompatibleChampion: "refuse" | "pass";
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
  const { version, comparison } = champion;
  const metric = "accuracy" in input.metrics ? "accuracy" : "rmse";
  const value = input.metrics[metric] ?? null;
  if (comparison === "same") {
    const evidence = `it has the weights of version ${version}: there is nothing to lose`;
    return { gate: "no-regression", metric, value, limit: value, passed: true, evidence };
  }
  if (comparison.kind === "incompatible") {
    const passed = input.incompatibleChampion === "pass";
    const evidence =
      `not compared with version ${version}: ${comparison.reasons.join("; ")}; ` +
      `evaluation.incompatibleChampion is ${input.incompatibleChampion}`;
    return { gate: "no-regression", metric, value, limit: null, passed, evidence };
  }
  return compared(comparison, input);
}

function ruling(passed: boolean, { regressionRule, tolerance }: GateInput, less: boolean): string {
  const limit = signed(less ? tolerance : -tolerance);
  if (regressionRule === "credible") {
    return passed
      ? `no regression, because the interval reaches ${limit}`
      : `a regression, because the interval ends before ${limit}`;
  }
  return passed
    ? `no regression, because the interval stays within ${limit}`
    : `a regression is not excluded, because the interval reaches beyond ${limit}`;
}

/** In the metric's good direction: the candidate's gain over the champion, and its interval. */
function compared(comparison: Extract<ChampionComparison, { kind: "compared" }>, input: GateInput): GateCheck {
  const { metric, candidateValue, championValue, difference, lower, upper } = comparison;
  const { confidence, rows, resamples, seed } = comparison;
  const less = lessIsBetter.has(metric);
  const [worst, best] = less ? [-upper, -lower] : [lower, upper];
  const bound = input.regressionRule === "credible" ? best : worst;
  const passed = bound >= -input.tolerance;
  const rule = worst > 0 ? "better, and not by chance" : ruling(passed, input, less);
  return {
    gate: "no-regression",
    metric,
    value: candidateValue,
    limit: championValue,
    passed,
    evidence:
      `${metric} is ${round(candidateValue)}, version ${comparison.champion} has ${round(championValue)} on the same ${rows} rows: ` +
      `${signed(difference)}, ${Math.round(confidence * 100)} % interval ${signed(lower)} to ${signed(upper)}; ${rule}`,
    interval: { difference, lower, upper, confidence, rows, resamples, seed },
  };
}

/** NaN is never good enough. */
function better(metric: string, value: number, limit: number, tolerance: number): boolean {
  return lessIsBetter.has(metric) ? value <= limit + tolerance : value >= limit - tolerance;
}

function round(value: number): number {
  return Number(value.toPrecision(5));
}

function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${round(value)}`;
}
