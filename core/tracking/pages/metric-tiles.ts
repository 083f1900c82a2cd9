import type { EvaluationOutput, TrainingOutput } from "../../pipelines/outputs";
import { findOutput } from "../../pipelines/step";
import { formatDuration } from "../../quantities";
import { totalUsage } from "../../training/usage";
import { goalOf } from "../compare/goal";
import { html, type Markup } from "../compare/html/markup";
import type { RunPage } from "./run-page";
import { shortened, valueText } from "./tables";

const mostTiles = 8;

/** What a reader looks for first: how good it is, how far it came, what it took. */
export function tiles(page: RunPage): Markup | undefined {
  const { details } = page;
  const evaluation = details && findOutput<EvaluationOutput>(details, "Evaluate");
  const tested = Object.entries(evaluation?.metrics ?? {}).map(([name, value]) =>
    tile(name, valueText(value), "on the test split"),
  );
  const shown = [...tested.slice(0, 4), ...metricTiles(page).slice(0, tested.length > 0 ? 2 : 5), ...effort(page)];
  return shown.length === 0 ? undefined : html`<div class="tiles">${shown.slice(0, mostTiles)}</div>`;
}

/** Those whose names say what is better, of data that were not trained on first. */
function metricTiles({ metrics }: RunPage): readonly Markup[] {
  const rank = (metric: string): number => (/^(?:test|val)/i.test(metric) ? 0 : /^train/i.test(metric) ? 2 : 1);
  return metrics
    .flatMap((one) => {
      const goal = goalOf(one.metric);
      return goal === undefined || one.metric.startsWith("system/") ? [] : [{ ...one, goal }];
    })
    .sort((a, b) => rank(a.metric) - rank(b.metric) || (a.metric < b.metric ? -1 : 1))
    .map(({ metric, goal, last, min, max, lastStep }) => {
      const best = goal === "min" ? min : max;
      const detail = lastStep === 0 || best === last ? `step ${lastStep}` : `best ${valueText(best)}; step ${lastStep}`;
      return tile(metric, valueText(last), detail);
    });
}

function effort({ details }: RunPage): readonly Markup[] {
  if (!details) return [];
  const training = findOutput<TrainingOutput>(details, "LaunchTraining");
  const { progress, attempts, recoveries } = details;
  const usage = totalUsage(attempts);
  const step = progress?.step ?? training?.steps;
  const lost = recoveries.length;
  return [
    ...(step === undefined
      ? []
      : [tile("steps", `${step}`, progress ? `of ${progress.totalSteps}` : `${training!.epochs} epochs`)]),
    ...(usage === undefined || usage.workerSeconds === 0
      ? []
      : [
          tile(
            "worker time",
            formatDuration(usage.workerSeconds * 1_000),
            usage.estimatedUsd === undefined
              ? ""
              : `about $${usage.estimatedUsd.toFixed(usage.estimatedUsd < 1 ? 4 : 2)}`,
          ),
        ]),
    ...(lost === 0 ? [] : [tile("workers lost", String(lost), "and training went on")]),
  ];
}

function tile(name: string, value: string, detail: string): Markup {
  return html`<div class="tile"><p>${shortened(name, 80)}</p><strong>${value}</strong><p>${detail}</p></div>`;
}
