import { byRank, goalOf } from "../../core/evaluation/metric-goal";
import type { Page } from "../../core/html/document";
import { link, pageOf } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { shortened } from "../../core/html/tables";
import { formatDuration, numberText, timeText } from "../../core/quantities";
import { displayedStatus, workMs } from "../../core/runs/run";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { Experiment } from "../../core/tracking/shapes";
import type { Row } from "../compare/comparison";
import { metricsOf } from "../compare/pivot";
import { paramPlots } from "./comparison/param-plots";
import { type ExperimentPage, runsOnPage } from "./experiment-page";
import type { Links } from "./links";

export function experimentsHtml(
  { experiments, nextToken }: { readonly experiments: readonly Experiment[]; readonly nextToken?: string },
  links: Links,
  now: number,
): Page {
  const rows = experiments.map(
    ({ experimentId, name, tags, createdAt, createdBy }) =>
      html`<tr><td class="tight">${experimentId}</td><td class="name">${link(links.experiment(experimentId), shortened(name, 250))}</td><td class="number">${timeText(Date.parse(createdAt))}</td><td>${shortened(createdBy, 60)}</td><td class="long">${shortened(
        Object.entries(tags)
          .filter(([key]) => !key.startsWith("mlflow."))
          .map(([key, value]) => `${key}=${value}`)
          .join(" "),
        200,
      )}</td></tr>
`,
  );
  const body = html`<div class="head"><h1>Experiments</h1></div>
<p class="facts"><span>${link(links.documentation(), "API reference")}</span></p>
${rows.length === 0 ? html`<p class="faint">No experiments yet. Submitting a job creates one, and so does an MLflow client.</p>` : html`<div class="scroll bar"><table><thead><tr>${["id", "name", "created (UTC)", "by", "tags"].map((one) => html`<th>${one}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`}
${nextToken === undefined ? undefined : html`<p>${link(links.experiments(nextToken), "next page")}</p>`}`;
  return pageOf({ title: "Experiments", crumbs: [], body, at: new Date(now).toISOString() });
}

const maxColumns = { metrics: 5, params: 5 };

export function experimentHtml(page: ExperimentPage, links: Links, now: number): Page {
  const { experiment, comparison, problem, query, runs, nextToken } = page;
  const { experimentId, name, lifecycle, tags, createdAt, createdBy } = experiment;
  const chips = Object.entries(tags)
    .filter(([key]) => !key.startsWith("mlflow."))
    .slice(0, 60);
  const next = nextToken && links.experiment(experimentId, { ...query, pageToken: nextToken });
  const body = html`<div class="head"><h1>${shortened(name, 250)}</h1>${lifecycle === "deleted" ? html`<span class="badge deleted">deleted</span>` : undefined}</div>
<p class="facts"><span>experiment <b>${experimentId}</b></span><span>by <b>${shortened(createdBy, 250)}</b></span><span>created <b>${timeText(Date.parse(createdAt))}</b> UTC</span></p>
${chips.length === 0 ? undefined : html`<div class="chips">${chips.map(([key, value]) => html`<span class="chip"><b>${shortened(key, 100)}</b> ${shortened(value, 200)}</span>`)}</div>`}
${filterForm(page, links)}
${problem === undefined ? undefined : html`<div class="banner bad"><pre>${problem}</pre></div>`}
${runs.length > 0 ? html`${bar(page, links)}${runTable(page, links)}` : problem === undefined ? html`<p class="faint">${query.filter === "" ? "No runs yet." : "No runs match this filter."}</p>` : undefined}
${next ? html`<p>${link(next, `next ${runsOnPage} runs`)}</p>` : undefined}
${comparison && paramPlots(comparison)}`;
  return pageOf({
    title: `${shortened(name, 100)} – experiment`,
    crumbs: [link(links.experiments(), "Experiments")],
    body,
    at: new Date(now).toISOString(),
  });
}

/** Omitted if links have no target. */
function filterForm({ query, experiment }: ExperimentPage, links: Links): Markup | undefined {
  const action = links.experiment(experiment.experimentId);
  if (action === undefined) return undefined;
  return html`<form class="filter" method="get" action="${action}"><input type="text" name="filter" value="${query.filter}" maxlength="4000" spellcheck="false" aria-label="filter" placeholder="metrics.val_loss < 0.3 AND params.depth >= 3 AND started > now-7d">${query.orderBy === "" ? undefined : html`<input type="hidden" name="orderBy" value="${query.orderBy}">`}<button>Filter</button></form>`;
}

function bar({ runs, total, query, experiment }: ExperimentPage, links: Links): Markup {
  const ids = runs.map(({ record }) => record.runId);
  const all = links.compare(ids);
  const words = `compare ${ids.length} ${ids.length === 1 ? "run" : "runs"}`;
  const prefix = links.compare([""])?.replace(/=[^=]*$/, "=");
  const newest = query.orderBy === "" ? undefined : links.experiment(experiment.experimentId, { filter: query.filter });
  return html`<p class="bar"><span class="faint">${ids.length < total ? `${ids.length} of ${total}` : total} ${total === 1 ? "run" : "runs"}${query.orderBy === "" ? ", newest first" : html`, by <code>${query.orderBy}</code>`}</span>${newest === undefined ? undefined : link(newest, "newest first")}${all === undefined ? undefined : html`<a class="button" href="${all}" data-href="${all}" data-all="${words}" data-compare="${prefix}">${words}</a>`}</p>`;
}

function runTable(page: ExperimentPage, links: Links): Markup {
  const { runs, comparison } = page;
  const metrics = metricColumns(runs);
  const params = paramColumns(comparison?.params.differing ?? []);
  const best = new Map(comparison?.metrics.map((row) => [row.metric, row.best]));
  const fields = [
    { field: "name", title: "run" },
    { field: "status", title: "status" },
    { field: "start_time", title: "started (UTC)" },
    { field: "duration", title: "duration" },
    { field: "created_by", title: "by" },
    ...metrics.map((metric) => ({ field: `metrics.${quoted(metric)}`, title: metric })),
    ...params.map((param) => ({ field: `params.${quoted(param)}`, title: param })),
  ];
  const head = fields.map(({ field, title }) => heading(page, links, field, title));
  const group = (columns: readonly string[], title: string): Markup | undefined =>
    columns.length === 0 ? undefined : html`<th colspan="${columns.length}">${title}</th>`;
  const groups = html`<tr class="groups"><th colspan="6"></th>${group(metrics, "metrics (last)")}${group(params, "params")}</tr>`;
  const rows = runs.map(({ record, metrics: own }, at) => {
    const { runId, name, status, startedAt, endedAt, createdBy } = record;
    const values = metrics.map((metric) => {
      const summary = own.find((one) => one.metric === metric);
      if (summary === undefined) return html`<td class="number">–</td>`;
      const hint = `step ${summary.lastStep}; min ${numberText(summary.min)}, max ${numberText(summary.max)}`;
      return html`<td class="number${best.get(metric)?.includes(runId) ? " best" : ""}" title="${hint}">${numberText(summary.last)}</td>`;
    });
    const settings = params.map(
      (param) => html`<td>${shortened(Object.hasOwn(record.params, param) ? record.params[param]! : "–", 60)}</td>`,
    );
    return html`<tr class="r${at}"><td class="tight"><input type="checkbox" name="pick" value="${runId}" aria-label="compare ${name}" autocomplete="off"></td><td class="name">${link(links.run(runId), shortened(name === "" ? runId : name, 100))}</td><td class="tight"><span class="badge ${status}">${displayedStatus(record)}</span></td><td class="number">${timeText(startedAt)}</td><td class="number">${endedAt === undefined ? "–" : formatDuration(workMs(record, endedAt))}</td><td>${shortened(createdBy, 60)}</td>${values}${settings}</tr>
`;
  });
  return html`<div class="scroll"><table class="runs"><thead>${groups}<tr><th class="tight"></th>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A click orders by the column, the better values first if the name implies it; a second one reverses the order. */
function heading({ query, experiment }: ExperimentPage, links: Links, field: string, title: string): Markup {
  const goal = field.startsWith("metrics.") ? goalOf(title) : undefined;
  const first = goal === "max" || field === "start_time" ? "DESC" : "ASC";
  const second = first === "ASC" ? "DESC" : "ASC";
  const orderBy = query.orderBy === `${field} ${first}` ? `${field} ${second}` : `${field} ${first}`;
  const mark = query.orderBy === `${field} ASC` ? " ↑" : query.orderBy === `${field} DESC` ? " ↓" : "";
  const href = links.experiment(experiment.experimentId, { filter: query.filter, orderBy });
  return html`<th title="${title}">${link(href, `${ending(title)}${mark}`)}</th>`;
}

function metricColumns(runs: readonly SearchedRun[]): readonly string[] {
  const held = (name: string): number =>
    runs.filter(({ metrics }) => metrics.some(({ metric }) => metric === name)).length;
  const all = metricsOf(runs).filter((metric) => !metric.startsWith("system/"));
  // Omits metrics that few runs have.
  const common = all.filter((metric) => 5 * held(metric) >= runs.length);
  return [...(common.length > 0 ? common : all)]
    .sort(byRank(runs.map(({ record }) => record)))
    .slice(0, maxColumns.metrics);
}

/** Returns the params that differ and are short enough for a column, those with the most differences first. */
function paramColumns(differing: readonly Row[]): readonly string[] {
  const spread = ({ values }: Row): number => new Set(values.filter((value) => value !== null)).size;
  return differing
    .filter(({ values }) => values.every((value) => value === null || value.length <= 60))
    .map((row) => ({ name: row.name, spread: spread(row) }))
    .sort((a, b) => b.spread - a.spread)
    .slice(0, maxColumns.params)
    .map(({ name }) => name);
}

function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

function ending(name: string): string {
  return name.length <= 28 ? name : `…${name.slice(-27)}`;
}
