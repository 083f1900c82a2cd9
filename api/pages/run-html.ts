import type { ValidationOutput } from "../../core/datasets/validation";
import { contractTable } from "../../core/html/contract-html";
import type { Page } from "../../core/html/document";
import { link, pageOf } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { pairs, shortened } from "../../core/html/tables";
import { formatDuration, timeText } from "../../core/quantities";
import { displayedStatus, outcomeText, workMs } from "../../core/runs/run";
import type { RunOutcome } from "../../core/runs/shapes";
import { findOutput } from "../../core/runs/step";
import { curveSections } from "./curve-families";
import { diffView } from "./diff-view";
import { evaluationSection } from "./evaluation-section";
import { lineageStrip } from "./lineage-strip";
import type { Links } from "./links";
import { tiles } from "./metric-tiles";
import { notesView } from "./notes";
import { codePairs, environmentPairs } from "./run-facts";
import type { RunPage } from "./run-page";
import { attemptTable, childTable, datasetTable, fileTable, metricTable } from "./run-tables";
import { timeline } from "./timeline";

const refreshSeconds = 30;
/** Time without a new point or change after which an open run counts as abandoned. */
const silentMs = 15 * 60_000;

/** @param now milliseconds since the epoch */
export function runHtml(page: RunPage, links: Links, now: number): Page {
  const { record, experiment, details, curves, diff } = page;
  const own = Object.entries(record.params).sort(([a], [b]) => (a < b ? -1 : 1));
  const isOpen = record.status === "running" || record.status === "queued";
  // A client that died leaves its run open permanently. A run without a recent sign of life is not refreshed.
  const isLive = isOpen && now - lastSign(page) < silentMs;
  const body = html`${header(page, links, now)}
${banners(page, links)}
${contractSection(page)}
${tiles(page)}
${lineageStrip(page, links)}
${evaluationSection(page.evaluation)}
${curveSections(curves, record.reusedFrom)}
${details && timeline(details, now)}
${record.notes === "" ? undefined : html`<section><h2>Notes</h2>${notesView(record.notes)}</section>`}
<div class="two">${metricTable(page)}
${pairs("Params", own)}</div>
${childTable(page, links)}
<div class="two">${pairs("Code", codePairs(record))}
${pairs("Environment", environmentPairs(record))}</div>
${diff && html`<section><h2>Uncommitted changes</h2>${diffView(diff.text, diff.cut)}</section>`}
${datasetTable(record)}
${attemptTable(page)}
${fileTable(page, links)}`;
  return pageOf({
    title: `${shortened(record.name, 100)} – run of ${shortened(experiment?.name ?? record.experimentId, 100)}`,
    crumbs: [
      link(links.experiments(), "Experiments"),
      link(links.experiment(record.experimentId), shortened(experiment?.name ?? record.experimentId, 100)),
    ],
    body,
    at: new Date(now).toISOString(),
    ...(isLive ? { refreshSeconds } : {}),
  });
}

/** Returns the time of the last change or point of a run, in milliseconds since the epoch. */
function lastSign({ record, metrics, details }: RunPage): number {
  const updated = details === undefined ? Number.NaN : Date.parse(details.run.updatedAt);
  return [record.startedAt, updated, ...metrics.map(({ lastTime }) => lastTime)]
    .filter(Number.isFinite)
    .reduce((a, b) => Math.max(a, b));
}

function header({ record, details, childCount, children }: RunPage, links: Links, now: number): Markup {
  const { runId, name, status, source, createdBy, startedAt, endedAt, tags, parentRunId, lifecycle } = record;
  const isOpen = status === "running" || status === "queued";
  const took = formatDuration(workMs(record, now));
  const comparisons = [
    ...(parentRunId === undefined
      ? []
      : [link(links.compare([parentRunId, runId], parentRunId), "compare with parent")]),
    ...(children.length < 2
      ? []
      : [
          link(
            links.compare(children.map((child) => child.record.runId)),
            childCount > children.length ? `compare ${children.length} children` : "compare children",
          ),
        ]),
  ];
  return html`<div class="head"><h1>${shortened(name === "" ? runId : name, 250)}</h1><span class="badge ${status}">${displayedStatus(record)}</span>${lifecycle === "deleted" ? html`<span class="badge deleted">deleted</span>` : undefined}<span class="badge">${source === "training" ? "training run" : "logged run"}</span>${record.reusedFrom === undefined ? undefined : html`<span class="badge">reused from ${link(links.run(record.reusedFrom), record.reusedFrom)}</span>`}</div>
<p class="facts">${name === runId || name === "" ? undefined : html`<span><code class="whole">${runId}</code></span>`}<span>by <b>${shortened(createdBy, 250)}</b></span><span>started <b>${timeText(startedAt)}</b> UTC</span><span>${endedAt !== undefined ? html`duration <b>${took}</b>` : isOpen ? html`elapsed <b>${took}</b>` : undefined}</span>${details?.run.phase && isOpen ? html`<span>phase <b>${details.run.phase}</b></span>` : undefined}${comparisons.map((one) => html`<span>${one}</span>`)}</p>
${tagChips(tags)}`;
}

/** Renders tags that people set. Other parts of the page show the clients' own tags. */
function tagChips(tags: Readonly<Record<string, string>>): Markup | undefined {
  const shown = Object.entries(tags)
    .filter(([key]) => !key.startsWith("mlflow."))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (shown.length === 0) return undefined;
  const chips = shown
    .slice(0, 60)
    .map(([key, value]) => html`<span class="chip"><b>${shortened(key, 100)}</b> ${shortened(value, 200)}</span>`);
  const more = shown.length > 60 ? html`<span class="faint">and ${shown.length - 60} more</span>` : undefined;
  return html`<div class="chips">${chips}${more}</div>`;
}

function banners({ record, details, next, versions }: RunPage, links: Links): readonly (Markup | undefined)[] {
  const { failure, outcome, cause } = details?.run ?? {};
  const canRegister = outcome?.decision === "not-registered" && versions.length === 0;
  return [
    record.deletedAt === undefined
      ? undefined
      : html`<p class="banner warn">Deleted ${record.deletedAt}. Restore it with <code>ringmaster runs undelete ${record.runId}</code>.</p>`,
    record.unreadable === undefined
      ? undefined
      : html`<p class="banner bad">A part of this run cannot be read: ${shortened(record.unreadable, 2_000)}. Delete it: <code>ringmaster runs delete ${record.runId}</code></p>`,
    ...(details?.warnings ?? []).map(
      ({ code, message }) => html`<p class="banner warn" data-code="${code}">Warning: ${shortened(message, 2_000)}</p>`,
    ),
    failure &&
      html`<div class="banner bad"><strong>${failure.code}</strong>${failure.phase === undefined ? undefined : ` in ${failure.phase}`}<pre>${shortened(failure.message, 4_000)}</pre></div>`,
    outcome &&
      html`<p class="banner ${isGood(outcome) ? "good" : "warn"}">${shortened(outcomeText(outcome), 2_000)}${
        canRegister ? html`. Register it: <code>ringmaster models register ${record.runId} --as NAME</code>` : undefined
      }</p>${canRegister ? registerForm(links.register(record.runId)) : undefined}`,
    ...next.map(
      ({ version, steps }) =>
        html`<div class="banner warn"><strong>${version.model} version ${version.version}</strong>: next:${steps.map(
          ({ what, command }) =>
            html`<p>${shortened(what, 2_000)}${command === undefined ? undefined : html`: <code>${command}</code>`}</p>`,
        )}</div>`,
    ),
    cause && html`<p class="banner">Triggered by retraining rule <b>${cause.rule}</b>: ${cause.id}</p>`,
  ];
}

/** Lists the rules of the data contract that the run's rows break, with the first of these rows. */
function contractSection({ details }: RunPage): Markup | undefined {
  const output = details && findOutput<ValidationOutput>(details, "ValidateDataset");
  const { contract, rowCount } = output ?? {};
  if (!contract || contract.violations.length === 0) return undefined;
  return contractTable(
    `Data contract, revision ${contract.revision}: ${contract.status}`,
    contract.violations,
    rowCount,
  );
}

/** Renders the form that leads to the page that registers the run's model. */
function registerForm(action: string | undefined): Markup | undefined {
  if (action === undefined) return undefined;
  return html`<form class="filter" method="get" action="${action}"><input type="text" name="as" required maxlength="250" spellcheck="false" aria-label="name of the model" placeholder="name of the model"><button>Register…</button></form>`;
}

function isGood(outcome: RunOutcome): boolean {
  return outcome.decision === "promoted" || (outcome.decision === "not-registered" && outcome.passed);
}
