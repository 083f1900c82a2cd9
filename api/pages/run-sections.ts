import { byRank, goalOf, testPrefix } from "../../core/evaluation/metric-goal";
import { isBuiltIn, leadingMetrics } from "../../core/evaluation/metrics";
import { featuresKind } from "../../core/features/shapes";
import { link } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { listing, shortened } from "../../core/html/tables";
import { formatBytes, formatDuration, formatMetric, formatRate, numberText, timeText } from "../../core/quantities";
import type { EarlyStoppingOutcome } from "../../core/runs/early-stopping";
import { sourceText } from "../../core/runs/fine-tune";
import type { TrainingProgress } from "../../core/runs/progress";
import { displayedStatus } from "../../core/runs/run";
import { findOutput } from "../../core/runs/step";
import { trainingKind } from "../../core/runs/training-task";
import { totalUsage } from "../../core/runs/usage";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { RunRecord } from "../../core/tracking/shapes";
import { metricsOf } from "../compare/pivot";
import type { Links } from "./links";
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
  const names = Object.keys(metrics).filter((name) => !isBuiltIn(name));
  const [primary, ...others] = leadingMetrics(evaluation.report.task, metrics);
  return [...(primary === undefined ? [] : [primary]), ...names, ...others].map((name) => {
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
  const training = findOutput(details, trainingKind);
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

export function metricTable({ metrics, record }: Pick<RunPage, "metrics" | "record">): Markup | undefined {
  const rank = byRank([record]);
  const rows = [...metrics]
    .sort((a, b) => rank(a.metric, b.metric))
    .map(
      ({ metric, last, min, max, lastStep }) =>
        html`<tr><th>${metric}</th>${[last, min, max].map((value) => html`<td class="number">${formatMetric(metric, value, numberText)}</td>`)}<td class="number">${lastStep}</td></tr>
`,
    );
  return listing("Metrics", ["metric", "last", "min", "max", "step"], rows);
}

export function datasetTable({ datasets }: RunRecord): Markup | undefined {
  const rows = datasets.map(({ name, version, digest, source, sourceType, tags }) => {
    const of = version === undefined ? sourceOf(sourceType, source) : "registered dataset";
    return html`<tr><td class="name">${shortened(name, 250)}${version === undefined ? undefined : `@${version}`}</td><td><code class="whole">${digest}</code></td><td>${tags["mlflow.data.context"] ?? "–"}</td><td class="long">${of}</td></tr>
`;
  });
  return listing("Datasets", ["dataset", "digest", "context", "source"], rows);
}

/** If a client gives a URL, only the URL is shown, without the tool's own notation. */
function sourceOf(type: string, source: string): string {
  const address = /"(?:uri|url|path)"\s*:\s*"([^"]*)"/.exec(source)?.[1];
  return shortened([type, address ?? (source === "{}" ? "" : source)].filter(Boolean).join(": ") || "–", 300);
}

export function attemptTable({ details }: RunPage): Markup | undefined {
  const rows = (details?.attempts ?? []).map(
    ({ attempt, evaluation, market, workers, status, reason, usage }) =>
      html`<tr><td class="tight">${attempt}${evaluation === undefined ? "" : " (evaluation)"}</td><td class="tight">${market}</td><td class="tight">${workers}</td><td>${usage?.instanceTypes.join(", ") || "–"}</td><td>${usage ? formatDuration(usage.workerSeconds * 1_000) : "–"}</td><td>${usage?.estimatedUsd === undefined ? "–" : `$${usage.estimatedUsd.toFixed(4)}`}</td><td><span class="badge ${status === "succeeded" ? "completed" : status === "failed" ? "failed" : "running"}">${status}</span></td><td class="long">${shortened(reason ?? "", 500)}</td></tr>
`,
  );
  const head = ["attempt", "market", "workers", "instances", "worker time", "est. cost", "status", "reason"];
  return listing("Attempts", head, rows);
}

export function childTable({ children, childCount }: RunPage, links: Links): Markup | undefined {
  const metrics = metricsOf(children).filter((metric) => !metric.startsWith("system/"));
  const columns = [...metrics].sort(byRank(children.map((child) => child.record))).slice(0, 4);
  const rows = [...children].sort(byStart).map(({ record, metrics: own }) => {
    const cells = columns.map((column) => {
      const summary = own.find(({ metric }) => metric === column);
      return html`<td class="number">${summary === undefined ? "–" : numberText(summary.last)}</td>`;
    });
    return html`<tr><td class="name">${link(links.run(record.runId), shortened(record.name, 100))}</td><td class="tight"><span class="badge ${record.status}">${displayedStatus(record)}</span></td><td class="number">${timeText(record.startedAt)}</td>${cells}</tr>
`;
  });
  const more =
    childCount > children.length ? html` <small>the first ${children.length} of ${childCount}</small>` : undefined;
  return listing(html`Children${more}`, ["run", "status", "started (UTC)", ...columns], rows);
}

function byStart({ record: a }: SearchedRun, { record: b }: SearchedRun): number {
  return a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1);
}

export function fileTable({ record, files, moreFiles, images }: RunPage, links: Links): Markup | undefined {
  const rows = files.map(
    ({ path, bytes = 0, sha256 = "" }) =>
      html`<tr><td class="long">${link(links.artifact(record.runId, path), path)}</td><td class="number">${formatBytes(bytes)}</td><td><code>${sha256.slice(0, 12)}</code></td></tr>
`,
  );
  const table = listing("Artifacts", ["path", "size", "SHA-256"], rows);
  return (
    table &&
    html`${table}${moreFiles ? html`<p class="faint">More files: <code>ringmaster runs artifacts list ${record.runId}</code></p>` : undefined}
${images.length === 0 ? undefined : html`<div class="images">${images.map(({ path, dataUrl }) => html`<figure><figcaption>${path}</figcaption><img src="${dataUrl}" alt="${path}" loading="lazy"></figure>`)}</div>`}`
  );
}

const maxOfAKind = 6;

export function lineageStrip(page: RunPage, links: Links): Markup | undefined {
  const { record, parent, childCount, versions, details } = page;
  const { code, datasets } = record;
  const features = details && findOutput(details, featuresKind);
  const from = details?.run.restoredFrom;
  const source = details?.run.fineTunedFrom;
  const again = details?.run.reproducedFrom;
  const before = [
    ...datasets.map(({ name, version, digest }) =>
      card("dataset", `${name}${version === undefined ? "" : `@${version}`}`, digest.slice(0, 12)),
    ),
    ...(code.commit === undefined && code.moduleSha256 === undefined
      ? []
      : [
          card(
            "code",
            (code.commit ?? code.moduleSha256 ?? "").slice(0, 12),
            code.dirty ? "uncommitted changes" : code.branch,
          ),
        ]),
    ...(from
      ? [card("checkpoint", link(links.run(from.runId), from.runId), `epoch ${from.epoch}, step ${from.step}`)]
      : []),
    ...(source ? [card("fine-tuned from", sourceText(source), source.weightsSha256.slice(0, 12))] : []),
    ...(again ? [card("reproduces", link(links.run(again), again))] : []),
    ...(record.parentRunId === undefined
      ? []
      : [card("parent run", link(links.run(record.parentRunId), parent?.name ?? record.parentRunId))]),
  ];
  const after = [
    ...versions.map(({ model, version, stage }) => card("model version", `${model}@${version}`, stage)),
    ...record.modelOutputs.map(({ modelId }) => card("logged model", modelId)),
    ...(childCount === 0 ? [] : [card("child runs", String(childCount))]),
  ];
  if (before.length === 0 && after.length === 0) return undefined;
  const columns = [
    column(before),
    features &&
      html`<ul>${card("features", features.digest.slice(0, 12), `${features.width} ${features.width === 1 ? "feature" : "features"}`)}</ul>`,
    html`<ul><li class="here"><small class="faint">run</small>${shortened(record.name, 80)}${record.weightsSha256 === undefined ? undefined : html`<small class="faint">weights ${record.weightsSha256.slice(0, 12)}</small>`}</li></ul>`,
    column(after),
  ].filter((one) => one !== undefined);
  return html`<section><h2>Lineage</h2><div class="flow">${columns.map(
    (one, index) => html`${index === 0 ? undefined : html`<span class="arrow" aria-hidden="true">→</span>`}${one}`,
  )}</div></section>`;
}

function column(cards: readonly Markup[]): Markup | undefined {
  if (cards.length === 0) return undefined;
  const more = cards.length - maxOfAKind;
  return html`<ul>${cards.slice(0, maxOfAKind)}${more > 0 ? html`<li class="faint">and ${more} more</li>` : undefined}</ul>`;
}

function card(kind: string, name: Markup | string, detail?: string): Markup {
  const words = typeof name === "string" ? shortened(name, 80) : name;
  return html`<li><small class="faint">${kind}</small>${words}${detail === undefined ? undefined : html`<small class="faint">${shortened(detail, 80)}</small>`}</li>`;
}
