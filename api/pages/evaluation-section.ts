import type { TaskKind } from "../../core/evaluation/metrics";
import type { EvaluationView } from "../report/evaluation-view";
import { shown } from "../report/report";
import { html, Markup } from "./markup";
import {
  calibrationPlot,
  confusionPlot,
  importanceBars,
  type NamedCurve,
  precisionRecallPlot,
  rocPlot,
  scatterPlot,
} from "./report-plots";

const kinds: Readonly<Record<TaskKind, string>> = {
  regression: "regression",
  multiclass: "multiclass classification",
  balanced: "binary classification",
  imbalanced: "binary classification, imbalanced classes",
};

/** Renders plots of the evaluation on the test split, depending on the task. */
export function evaluationSection(evaluation: EvaluationView | undefined): Markup | undefined {
  if (!evaluation) return undefined;
  const { report, kind } = evaluation;
  const figures = plotsOf(evaluation);
  if (figures.length === 0) return undefined;
  return html`<section><h2>Evaluation <small>${kinds[kind]}; label ${report.label}; ${report.rows} test rows</small></h2>
<div class="evaluation">${figures}</div></section>`;
}

function plotsOf({ report, kind, calibration, curves, scatter, importance }: EvaluationView): readonly Markup[] {
  const { classes, confusionMatrix } = report;
  const figures: Markup[] = [];
  const add = (title: string, svg: string, note?: string | Markup): void => {
    if (svg !== "") {
      figures.push(
        html`<figure class="plot"><figcaption>${title}${note === undefined ? undefined : html` <small>${note}</small>`}</figcaption>${new Markup(svg)}</figure>`,
      );
    }
  };
  if (scatter) add("Predicted and true values", scatterPlot(scatter));
  if (classes && confusionMatrix) {
    const names = classes.map(({ value }) => String(value));
    add("Confusion matrix", confusionPlot(confusionMatrix, names), "shade: share of the true class");
  }
  const named = (curves ?? []).map((curve): NamedCurve => ({ ...curve, name: String(curve.value) }));
  const [first] = named;
  if (first) {
    const ofAll = classes && named.length < classes.length && classes.length > 2;
    const one = html`class ${first.name}, AUC ${shown(first.auc)}`;
    add("ROC curve", rocPlot(named), named.length === 1 ? one : legend(named, ofAll === true));
    if (kind === "imbalanced") {
      add(
        "Precision-recall curve",
        precisionRecallPlot(first),
        `class ${first.name}, average precision ${shown(first.averagePrecision)}; dashed: its share of the rows`,
      );
    }
  }
  if (calibration) {
    const positive = classes?.[1]?.value;
    const of = calibration.of === "positive" ? `class ${positive}` : "predicted class";
    add("Calibration", calibrationPlot(calibration), `${of}; expected error ${shown(calibration.error)}`);
  }
  if (importance) {
    const { metric, rows, repeats } = importance;
    const note = `loss of ${metric} when a column is permuted: mean and deviation of ${repeats}, ${rows} rows`;
    add("Importance of columns", importanceBars(importance), note);
  }
  return figures;
}

function legend(curves: readonly NamedCurve[], isPart: boolean): Markup {
  const entries = curves.map(
    ({ name }, at) =>
      html`<span><i class="c${at % 10}">■</i> ${name.length > 18 ? `${name.slice(0, 17)}…` : name}</span> `,
  );
  return html`one class against the rest${isPart ? ", the ten with the lowest AUC" : undefined}<br>${entries}`;
}
