import type { LabelEncoding } from "../features/shapes";
import type { Decision, DecisionSettings, ThresholdRule } from "../runs/decision";
import { classMetrics, confusionMatrix } from "./classification";
import { type Predictions, predictedClasses } from "./metrics";

export function decisionProblem(
  { positive, threshold }: DecisionSettings,
  label: LabelEncoding,
): { readonly field: "positive" | "threshold"; readonly rule: string } | undefined {
  const field = positive === undefined ? "threshold" : "positive";
  if (positive === undefined && threshold === undefined) return undefined;
  if (label.kind === "value")
    return { field, rule: `must be left out: the label ${label.column} is a value and has no classes` };
  const classes = label.classes.map(String);
  if (classes.length !== 2)
    return { field, rule: `must be left out: the label ${label.column} has ${classes.length} classes, not two` };
  if (positive === undefined || classes.includes(String(positive))) return undefined;
  return { field, rule: `must be one of the classes of ${label.column}: ${classes.join(", ")}` };
}

export function decided(predictions: Predictions, { classes }: Classes, decision: Decision | undefined): Predictions {
  if (decision === undefined || predictions.classes !== 2) return predictions;
  return { ...predictions, positive: positiveIndex(classes, decision), cut: cutOf(classes, decision) };
}

function positiveIndex(classes: Classes["classes"], { positive }: Pick<Decision, "positive">): 0 | 1 {
  return String(classes[0]) === String(positive) ? 0 : 1;
}

/** Returns the probability of the second of two classes above which a row is predicted as the second. */
export function cutOf(classes: Classes["classes"], decision: Decision): number {
  return positiveIndex(classes, decision) === 1 ? decision.threshold : 1 - decision.threshold;
}

type Classes = { readonly classes: readonly Decision["positive"][] };

/**
 * Returns the decision of a model, chosen on the validation split; `undefined` if the settings leave it open. Pure.
 *
 * @param validation returns the predictions for the validation split; called only if they choose the threshold
 */
export async function chooseDecision(
  { positive, threshold: rule }: DecisionSettings,
  { classes }: Classes,
  validation: () => Promise<Predictions>,
): Promise<Decision | undefined> {
  if (positive === undefined && rule === undefined) return undefined;
  const index = positive === undefined ? 1 : positiveIndex(classes, { positive });
  const value = classes[index] as Decision["positive"];
  if (rule === undefined) return { positive: value, threshold: 0.5 };
  if (typeof rule === "number") return { positive: value, threshold: rule, rule };
  const predictions = await validation();
  const threshold = bestThreshold(rule, predictions, index);
  const chosen = decided(predictions, { classes }, { positive: value, threshold });
  const rows = predictions.labels.length;
  const confusion = confusionMatrix(predictions.labels, predictedClasses(chosen), 2);
  const { precision, recall, f1 } = classMetrics(confusion, 2)[index]!;
  const accuracy = (confusion[0]! + confusion[3]!) / rows;
  return { positive: value, threshold, rule, validation: { rows, precision, recall, f1, accuracy } };
}

/** Rows of the positive class and of the other one that are predicted as positive, and all rows of both. */
interface Counts {
  readonly hits: number;
  readonly falseAlarms: number;
  readonly positives: number;
  readonly negatives: number;
}

/**
 * Finds the threshold that fulfils the rule best, of those between two neighbouring probabilities. Of equal ones it is
 * the highest. A precision that no threshold reaches gives the threshold with the highest precision.
 */
function bestThreshold(rule: Exclude<ThresholdRule, number>, predictions: Predictions, positive: number): number {
  const { labels, outputs } = predictions;
  const probability = Float64Array.from(outputs, (one) => (positive === 1 ? one : 1 - one));
  const order = Uint32Array.from(probability, (_, row) => row).sort((a, b) => probability[b]! - probability[a]!);
  let positives = 0;
  for (const label of labels) positives += Number(label === positive);
  const negatives = labels.length - positives;
  let hits = 0;
  let best = { threshold: 0.5, score: [Number.NEGATIVE_INFINITY, 0] as Score };
  for (let at = 0; at < order.length; at += 1) {
    const here = probability[order[at]!]!;
    hits += Number(labels[order[at]!] === positive);
    const next = at + 1 < order.length ? probability[order[at + 1]!]! : 0;
    if (next === here) continue;
    const score = scoreOf(rule, { hits, falseAlarms: at + 1 - hits, positives, negatives });
    if (score[0] > best.score[0] || (score[0] === best.score[0] && score[1] > best.score[1]))
      best = { threshold: (here + next) / 2, score };
  }
  return best.threshold;
}

/** Compared in order; more is better. */
type Score = readonly [number, number];

function scoreOf(rule: Exclude<ThresholdRule, number>, { hits, falseAlarms, positives, negatives }: Counts): Score {
  const precision = hits / (hits + falseAlarms);
  const recall = positives === 0 ? 0 : hits / positives;
  if (rule === "f1") return [(2 * hits) / (hits + falseAlarms + positives), 0];
  if (rule === "accuracy") return [hits - falseAlarms, 0];
  if (rule === "balancedAccuracy") return [recall + (negatives === 0 ? 1 : 1 - falseAlarms / negatives), 0];
  // The minimum first, then the other metric.
  if ("recall" in rule) return [Math.min(recall, rule.recall), precision];
  return [Math.min(precision, rule.precision), recall];
}
