import type { Category } from "../datasets/profile";
import type { ObjectStore } from "../ports";
import type { ContentReference } from "../shapes";
import { calibrationOf } from "./calibration";
import { type TaskKind, taskKindOf } from "./metric-names";
import { type Predictions, probabilityOf } from "./metrics";
import { type CurvePoint, type RankingCurves, rankingCurves } from "./ranking";
import type { EvaluationReport } from "./report";
import type { Calibration, ImportanceReport } from "./shapes";
import { readPredictions, readReport } from "./stored-predictions";

/** An evaluation with its plots. */
export interface EvaluationView {
  readonly report: EvaluationReport;
  readonly kind: TaskKind;
  /** The following fields are absent if there are too many predictions for a page. */
  readonly calibration?: Calibration;
  /** One curve for two classes; else one curve for each class against the rest. */
  readonly curves?: readonly ClassCurves[];
  /** True and predicted values of a regression. */
  readonly scatter?: readonly CurvePoint[];
  readonly importance?: ImportanceReport;
}

export interface ClassCurves extends RankingCurves {
  readonly value: Category;
  readonly auc: number;
}

const limits = { predictionBytes: 16 * 1024 * 1024, curves: 10, scatterPoints: 500 } as const;

/** Reads an evaluation's report and computes its curves from the stored predictions. */
export async function readEvaluationView(
  objects: Pick<ObjectStore, "getContent">,
  reference: ContentReference,
): Promise<EvaluationView> {
  const report = await readReport(objects, reference);
  const kind = taskKindOf(report.classes?.map(({ support }) => support) ?? []);
  if (report.predictions.bytes > limits.predictionBytes) return { report, kind };
  const { predictions } = await readPredictions(objects, report);
  const calibration = calibrationOf(predictions);
  if (!report.classes || !calibration) return { report, kind, scatter: scatterOf(predictions) };
  return { report, kind, calibration, curves: curvesOf(kind, report.classes, predictions) };
}

/**
 * Returns the curves. Of two classes it is the positive one if the job names it, else the second, or the rarer one if they are imbalanced; the other's ROC curve
 * is its mirror image. Of more classes than a plot has lines, those with the lowest AUC are returned.
 */
function curvesOf(
  kind: TaskKind,
  classes: NonNullable<EvaluationReport["classes"]>,
  predictions: Predictions,
): readonly ClassCurves[] {
  const { labels } = predictions;
  const known = classes.flatMap(({ value, auc }, index) => (auc === undefined ? [] : [{ value, auc, index }]));
  const isFirstRarer = (classes[0]?.support ?? 0) < (classes[1]?.support ?? 0);
  const { positive } = predictions;
  const drawn =
    positive !== undefined
      ? known.filter(({ index }) => index === positive)
      : kind === "imbalanced" && isFirstRarer
        ? known.slice(0, 1)
        : classes.length === 2
          ? known.slice(-1)
          : known
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
