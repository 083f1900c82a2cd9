import { byRank, goalOf, testPrefix } from "../../core/evaluation/metric-goal";
import { isBuiltIn, leadingMetrics } from "../../core/evaluation/metrics";
import { html, type Markup } from "../../core/html/markup";
import { shortened } from "../../core/html/tables";
import { formatDuration, formatRate, numberText } from "../../core/quantities";
import type { EarlyStoppingOutcome } from "../../core/runs/early-stopping";
import type { TrainingProgress } from "../../core/runs/progress";
import { findOutput } from "../../core/runs/step";
import type { TrainingOutput } from "../../core/runs/training-task";
import { totalUsage } from "../../core/runs/usage";
import type { RunPage } from "./run-page";

const maxTiles = 8;

/** Descriptions of the short names of an evaluation's metrics. */
const meanings: Readonly<Record<string, string>> = {
  accuracy: "accuracy",
  auc: "area under the ROC curve",
  prAuc: "average precision",
  f1: "F1",
  f1Macro: "F1, macro average",
  logLoss: "log-loss",
  precision: "precision",
  recall: "recall",
  rmse: "root mean squared error",
  mae: "mean absolute error",
  r2: "coefficient of determination",
};

/** Renders the most important facts: the metrics that suit the task, progress, and effort. */
export function tiles(page: RunPage): Markup | undefined {
  const tested = testTiles(page);
  const others = metricTiles(page, tested.length > 0);
  const shown = [...tested.slice(0, 4), ...others.slice(0, tested.length > 0 ? 2 : 5), ...effort(page)];
  return shown.length === 0 ? undefined : html`<div class="tiles">${shown.slice(0, maxTiles)}</div>`;
}

function testTiles({ evaluation }: RunPage): readonly Markup[] {
  if (!evaluation) return [];
  const { metrics, classes = [], decision } = evaluation.report;
  const above = decision ? ` above ${tileText(decision.threshold)}` : "";
  const ofPositive = classes.length === 2 ? ` of class ${decision?.positive ?? classes[1]?.value}${above}` : "";
  const own = Object.keys(metrics).filter((name) => !isBuiltIn(name));
  const [primary, ...others] = leadingMetrics(evaluation.report.task, metrics);
  return [...(primary === undefined ? [] : [primary]), ...own, ...others].map((name) => {
    const detail = `${meanings[name] ?? "metric of the module"}${/^(?:prAuc|f1|precision|recall)$/.test(name) ? ofPositive : ""}`;
    return tile(`${testPrefix}${name}`, tileText(metrics[name] ?? Number.NaN), shortened(detail, 60));
  });
}

/** Renders metrics whose names imply a goal, by rank. */
function metricTiles({ metrics, record }: RunPage, isTested: boolean): readonly Markup[] {
  const rank = byRank([record]);
  return metrics
    .flatMap((one) => {
      const goal = goalOf(one.metric);
      const isShown = goal !== undefined && !one.metric.startsWith("system/");
      return isShown && !(isTested && one.metric.startsWith(testPrefix)) ? [{ ...one, goal }] : [];
    })
    .sort((a, b) => rank(a.metric, b.metric))
    .map(({ metric, goal, last, min, max, lastStep }) => {
      const best = goal === "min" ? min : max;
      const detail =
        lastStep === 0 || best === last ? `step ${lastStep}` : `best ${numberText(best)}; step ${lastStep}`;
      return tile(metric, tileText(last), detail);
    });
}

function effort({ details }: RunPage): readonly Markup[] {
  if (!details) return [];
  const training = findOutput<TrainingOutput>(details, "LaunchTraining");
  const { progress, attempts } = details;
  const usage = totalUsage(attempts);
  const step = progress?.step ?? training?.steps;
  const lost = usage?.workerLosses ?? 0;
  return [
    ...(step === undefined
      ? []
      : [tile("steps", `${step}`, progress ? progressText(progress) : `${training!.epochs} epochs`)]),
    ...(usage === undefined || usage.workerSeconds === 0
      ? []
      : [
          tile(
            "worker time",
            formatDuration(usage.workerSeconds * 1_000),
            usage.estimatedUsd === undefined
              ? ""
              : `est. $${usage.estimatedUsd.toFixed(usage.estimatedUsd < 1 ? 4 : 2)}`,
          ),
        ]),
    ...(training?.earlyStopping ? [stoppingTile(training.earlyStopping, training.epochs)] : []),
    ...(lost === 0 ? [] : [tile("worker losses", String(lost), "")]),
  ];
}

const progressText = ({ totalSteps, samplesPerSecond }: TrainingProgress): string =>
  `of ${totalSteps}${samplesPerSecond > 0 ? `; ${formatRate(samplesPerSecond)}` : ""}`;

function stoppingTile({ metric, bestEpoch, value, stopped }: EarlyStoppingOutcome, epochs: number): Markup {
  const end = stopped ? `stopped at epoch ${epochs}` : `of ${epochs}`;
  return tile("best epoch", String(bestEpoch), `${metric} ${tileText(value)}; ${end}`);
}

/** Formats four significant digits; five do not fit after leading zeros. */
function tileText(value: number): string {
  return numberText(Number(value.toPrecision(4)));
}

function tile(name: string, value: string, detail: string): Markup {
  // Breaks a long name at its slashes.
  const parts = shortened(name, 80).split("/");
  const title = parts.map((part, at) => (at === 0 ? html`${part}` : html`/<wbr>${part}`));
  return html`<div class="tile"><p>${title}</p><strong>${value}</strong><p>${detail}</p></div>`;
}
