import type { TaskKind } from "../../core/datasets/shapes";
import { type EvaluationTable, importanceTable, shown, sliceTables } from "../../core/evaluation/evaluation-tables";
import { metricsOfTask } from "../../core/evaluation/metrics";
import { html, Markup } from "../../core/html/markup";
import { listing, shortened } from "../../core/html/tables";
import type { ShownEvaluation } from "../report/shown-evaluation";
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
  "rare-classes": "multiclass classification, rare classes",
  "long-tail": "multiclass classification, rare classes",
  balanced: "binary classification",
  imbalanced: "binary classification, imbalanced classes",
  positive: "binary classification, class of interest",
};

export function evaluationSection(evaluation: ShownEvaluation | undefined): Markup | undefined {
  if (!evaluation) return undefined;
  const { report } = evaluation;
  const figures = plotsOf(evaluation);
  if (figures.length === 0) return undefined;
  return html`<section><h2>Evaluation <small>${kinds[report.task]}; label ${report.label}; ${report.rows} test rows</small></h2>
<div class="evaluation">${figures}</div></section>${sliceTables(report).map(tableOf)}`;
}

function tableOf({ title, note, head, rows }: EvaluationTable): Markup | undefined {
  const heading = note === undefined ? title : html`${title} <small>${note}</small>`;
  const lines = rows.map(
    ([name = "", ...cells]) =>
      html`<tr><td>${shortened(name, 250)}</td>${cells.map((cell) => html`<td class="number">${cell}</td>`)}</tr>
`,
  );
  return listing(heading, head, lines);
}

function plotsOf({ report, calibration, curves, scatter }: ShownEvaluation): readonly Markup[] {
  const { classes, confusionMatrix, importance, task } = report;
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
    if (metricsOfTask(task).includes("prAuc")) {
      add(
        "Precision-recall curve",
        precisionRecallPlot(first),
        `class ${first.name}, average precision ${shown(first.averagePrecision)}; dashed: its share of the rows`,
      );
    }
  }
  if (calibration) {
    const positive = report.decision?.positive ?? classes?.[1]?.value;
    const of = calibration.of === "positive" ? `class ${positive}` : "predicted class";
    add("Calibration", calibrationPlot(calibration), `${of}; expected error ${shown(calibration.error)}`);
  }
  if (importance) {
    const { title, note, warning } = importanceTable(importance);
    const caution = warning === undefined ? undefined : html`<br><b>Warning:</b> ${warning}`;
    add(title, importanceBars(importance), html`${note}${caution}`);
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
