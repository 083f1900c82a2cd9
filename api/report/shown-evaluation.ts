import type { Category } from "../../core/datasets/profile";
import { type Predictions, predictedClasses, probabilityOf, taskKindOf } from "../../core/evaluation/metrics";
import { type CurvePoint, type RankingCurves, rankingCurves } from "../../core/evaluation/ranking";
import { type EvaluationReport, readReport } from "../../core/evaluation/report";
import type { Calibration } from "../../core/evaluation/shapes";
import { readPredictions } from "../../core/evaluation/stored-predictions";
import type { ObjectStore } from "../../core/ports";
import type { ContentReference } from "../../core/shapes";

export interface ShownEvaluation {
  readonly report: EvaluationReport;
  /** The following fields are absent if there are too many predictions for a page. */
  readonly calibration?: Calibration;
  /** One curve for two classes; else one curve for each class against the rest. */
  readonly curves?: readonly ClassCurves[];
  readonly scatter?: readonly CurvePoint[];
}

interface ClassCurves extends RankingCurves {
  readonly value: Category;
  readonly auc: number;
}

const limits = { predictionBytes: 16 * 1024 * 1024, curves: 10, scatterPoints: 500 } as const;

export async function readShownEvaluation(
  objects: Pick<ObjectStore, "getContent">,
  reference: ContentReference,
): Promise<ShownEvaluation> {
  const report = await readReport(objects, reference);
  if (report.predictions.bytes > limits.predictionBytes) return { report };
  const { predictions } = await readPredictions(objects, report);
  const calibration = calibrationOf(predictions);
  if (!report.classes || !calibration) return { report, scatter: scatterOf(predictions) };
  return { report, calibration, curves: curvesOf(report.classes, predictions) };
}

/** Returns the positive one of two classes (the job's, else the second or the rarer); of many, those of lowest AUC. */
function curvesOf(classes: NonNullable<EvaluationReport["classes"]>, predictions: Predictions): readonly ClassCurves[] {
  const { labels } = predictions;
  const scored = classes.flatMap(({ value, auc }, index) => (auc === undefined ? [] : [{ value, auc, index }]));
  const [first, second] = classes.map(({ support }) => support);
  const isFirstRare = taskKindOf([first ?? 0, second ?? 0]) === "imbalanced" && (first ?? 0) < (second ?? 0);
  const { positive } = predictions;
  const drawn =
    positive !== undefined
      ? scored.filter(({ index }) => index === positive)
      : classes.length === 2 && isFirstRare
        ? scored.slice(0, 1)
        : classes.length === 2
          ? scored.slice(-1)
          : scored
              .sort((a, b) => a.auc - b.auc)
              .slice(0, limits.curves)
              .sort((a, b) => a.index - b.index);
  return drawn.flatMap(({ value, auc, index }) => {
    const curves = rankingCurves(
      labels.length,
      (row) => probabilityOf(predictions, row, index),
      (row) => labels[row] === index,
    );
    return curves ? [{ value, auc, ...curves }] : [];
  });
}

/** Samples at most some hundreds of rows at even distances. The rows of a split are not ordered by label. */
function scatterOf({ labels, outputs }: Predictions): readonly CurvePoint[] {
  const every = Math.max(1, Math.ceil(labels.length / limits.scatterPoints));
  return Array.from(
    { length: Math.ceil(labels.length / every) },
    (_, at): CurvePoint => [labels[at * every]!, outputs[at * every]!],
  );
}

const tenths = 10;

/**
 * Returns the reliability diagram: equal tenths of the probability, the last one closed. `undefined` for regression.
 */
export function calibrationOf(predictions: Predictions): Calibration | undefined {
  const { classes, labels, positive = 1 } = predictions;
  if (classes === 0) return undefined;
  const predicted = predictedClasses(predictions);
  const sums = Array.from({ length: tenths }, () => ({ rows: 0, confidence: 0, right: 0 }));
  for (let row = 0; row < labels.length; row += 1) {
    const scored = classes === 2 ? positive : predicted[row]!;
    const probability = probabilityOf(predictions, row, scored);
    const bin = sums[Math.min(tenths - 1, Math.max(0, Math.floor(probability * tenths)))]!;
    bin.rows += 1;
    bin.confidence += probability;
    if (labels[row] === scored) bin.right += 1;
  }
  const bins = sums.map(({ rows, confidence, right }, at) => ({
    from: at / tenths,
    to: (at + 1) / tenths,
    rows,
    confidence: rows === 0 ? 0 : confidence / rows,
    observed: rows === 0 ? 0 : right / rows,
  }));
  const error = bins.reduce((sum, bin) => sum + bin.rows * Math.abs(bin.observed - bin.confidence), 0) / labels.length;
  return { of: classes === 2 ? "positive" : "predicted", bins, error };
}
