import type { Page } from "../../core/html/document";
import { link, pageOf } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { listing, pairs, shortened } from "../../core/html/tables";
import { formatDuration, timeText } from "../../core/quantities";
import type { StudyState } from "../../core/tuning/ports";
import { isActive, type Trial } from "../../core/tuning/shapes";
import type { Links } from "./links";
import { importanceOf } from "./study-importance";
import { bestSoFar, importanceBars, learningCurves, parallelCoordinates, slicePlot } from "./study-plots";

const maxSlices = 12;

/**
 * Renders the report of a study: best value so far, learning curves with the rungs where trials stopped, parallel
 * coordinates, importance, slices, and what early stopping has saved.
 *
 * @param now milliseconds since the epoch
 */
export function studyHtml({ study, trials }: StudyState, links: Links, now: number): Page {
  const { name, status, reason, definition, createdAt, createdBy, best } = study;
  const { objectives, sampler, scheduler, parallel, space } = definition;
  const importance = importanceOf(trials, space, objectives);
  const plot = (title: string, drawn: Markup): Markup =>
    html`<section><h2>${title}</h2><div class="scroll">${drawn}</div></section>`;
  const body = html`<div class="head"><h1>${name}</h1><span class="badge ${isActive(study) ? "running" : "completed"}">${status}</span></div>
<p class="facts"><span>by <b>${shortened(createdBy, 250)}</b></span><span>created <b>${timeText(Date.parse(createdAt))}</b> UTC</span>${reason === undefined ? undefined : html`<span>${shortened(reason, 500)}</span>`}</p>
${pairs("Study", [
  ["objective", objectives.map(({ metric, direction }) => `${direction} ${metric}`).join(", ")],
  ["search", `${sampler.type}, ${scheduler.type}, ${parallel} in parallel`],
  ["best", best.length === 0 ? undefined : best.map((number) => `trial ${number}`).join(", ")],
  ["registered by", study.bestRunId === undefined ? undefined : link(links.run(study.bestRunId), study.bestRunId)],
  ...savings(study.definition.job.hyperparameters.epochs, trials),
])}
${plot("Best value so far", bestSoFar(study, trials))}
${plot("Learning curves", learningCurves(study, trials))}
${plot("Parallel coordinates", parallelCoordinates(study, trials))}
${importance === undefined ? undefined : plot("Importance of parameters", importanceBars(importance))}
${Object.keys(space)
  .slice(0, maxSlices)
  .map((path) => plot(`Slice: ${path}`, slicePlot(study, trials, path)))}
${trialTable(trials, Object.keys(space), links)}`;
  return pageOf({
    title: `${name} – study`,
    crumbs: [link(links.experiments(), "Experiments")],
    body,
    at: new Date(now).toISOString(),
  });
}

/** Compares with training every trial to the end, by the mean time and cost of an epoch. */
function savings(epochs: number, trials: readonly Trial[]): readonly (readonly [string, string | undefined])[] {
  const trained = trials.reduce((sum, { reports }) => sum + (reports.at(-1)?.epoch ?? 0), 0);
  const full = trials.length * epochs;
  if (trained === 0 || full === 0) return [];
  const sumOf = (field: "seconds" | "dollars") => trials.reduce((sum, trial) => sum + (trial[field] ?? 0), 0);
  const [seconds, dollars] = [sumOf("seconds"), sumOf("dollars")];
  const saved = (full - trained) / trained;
  return [
    ["epochs", `${trained} of ${full} (${Math.round((100 * trained) / full)} %)`],
    [
      "worker time",
      seconds === 0
        ? undefined
        : `${formatDuration(1000 * seconds)}; saved about ${formatDuration(1000 * seconds * saved)}`,
    ],
    ["cost", dollars === 0 ? undefined : `$${dollars.toFixed(2)}; saved about $${(dollars * saved).toFixed(2)}`],
  ];
}

function trialTable(trials: readonly Trial[], paths: readonly string[], links: Links): Markup | undefined {
  const head = ["trial", "state", "epoch", "value", ...paths.map((path) => path.split(".").at(-1) ?? path), "reason"];
  const rows = trials.map(({ number, state, reports, values, params, runId, reason = "" }) => {
    const value = values ?? reports.slice(-1).map((report) => report.value);
    const settings = paths.map(
      (path) => html`<td>${params[path] === undefined ? "–" : shortened(JSON.stringify(params[path]), 60)}</td>`,
    );
    const name = runId === undefined ? String(number) : link(links.run(runId), String(number));
    return html`<tr><td>${name}</td><td>${state}</td><td class="number">${reports.at(-1)?.epoch ?? 0}</td><td class="number">${value.length === 0 ? "–" : value.map((one) => one.toPrecision(5)).join(", ")}</td>${settings}<td>${shortened(reason, 300)}</td></tr>
`;
  });
  return listing("Trials", head, rows);
}
