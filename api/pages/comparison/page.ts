import { documentOf, type Page } from "../../../core/html/document";
import { html, type Markup } from "../../../core/html/markup";
import { reportStyle } from "../../../core/html/report-style";
import { reportScript } from "../../../core/html/script";
import { deltaText, formatDuration, metricText, timeText } from "../../../core/quantities";
import { displayedStatus } from "../../../core/runs/run";
import type { MetricValue } from "../../../core/shapes";
import type { Comparison, MetricRow, Row } from "../../compare/comparison";
import { colour, curvePlot } from "./curve-plot";
import { paramPlots } from "./param-plots";

/** Renders a comparison as one self-contained page. `at` is ISO 8601. */
export function comparisonHtml(comparison: Comparison, at: string): Page {
  const { runs, rankedBy, params, curves, differences } = comparison;
  const indexes = new Map(runs.map(({ runId }, index) => [runId, index]));
  const title = `Comparison of ${runs.length} run${runs.length === 1 ? "" : "s"}`;
  const best =
    rankedBy && html`, by <code>${rankedBy.metric}</code> (${rankedBy.goal === "min" ? "lowest" : "highest"} first)`;
  const body = html`<h1>${title}${best}</h1>
<p class="faint">generated ${at.slice(0, 19).replace("T", " ")} UTC by Ringmaster</p>
${legend(comparison)}
${runTable(comparison)}
${comparison.metrics.length === 0 ? undefined : html`<section><h2>Metrics</h2>${metricTable(comparison)}</section>`}
${curves.length === 0 ? undefined : html`<section><h2>Curves</h2><div class="plots">${curves.map((curve) => curvePlot(curve, (runId) => indexes.get(runId)!))}</div></section>`}
${paramPlots(comparison)}
${fields("Params that differ", comparison, params.differing)}
${params.common.length === 0 ? undefined : html`<section><h2>Params in common</h2><div class="scroll"><table><tbody>${params.common.map(({ name, value }) => html`<tr><th>${name}</th><td>${value}</td></tr>`)}</tbody></table></div></section>`}
${fields("Code", comparison, differences.code)}
${fields("Data", comparison, differences.data)}
${fields("Environment", comparison, differences.environment)}`;
  return documentOf({ title, style: reportStyle, script: reportScript, sandbox: "allow-scripts", body });
}

function swatch(run: number): Markup {
  return html`<svg class="swatch ${colour(run)}" viewBox="0 0 22 10"><path d="M0 5H22"/></svg>`;
}

function titleOf({ name, runId }: Comparison["runs"][number]): string {
  return name === runId || name === "" ? runId : name;
}

function legend({ runs, baseline }: Comparison): Markup {
  return html`<div class="legend">${runs.map(
    (run, index) =>
      html`<label data-name="${titleOf(run)}"><input type="checkbox" value="${index}" checked> ${swatch(index)} ${titleOf(run)}${run.runId === baseline ? html` <small>baseline</small>` : undefined}</label>
`,
  )}</div>`;
}

function table({ runs }: Comparison, first: string, rows: readonly Markup[]): Markup {
  return html`<div class="scroll"><table>
<thead><tr><th>${first}</th>${runs.map((run, index) => html`<th class="r${index}">${swatch(index)} ${titleOf(run)}</th>`)}</tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
}

function runTable(comparison: Comparison): Markup {
  const { runs } = comparison;
  const row = (name: string, read: (run: Comparison["runs"][number]) => string): Markup =>
    html`<tr><th>${name}</th>${runs.map((run, index) => html`<td class="r${index}">${read(run)}</td>`)}</tr>`;
  return table(comparison, "", [
    row("run", ({ runId }) => runId),
    row("status", displayedStatus),
    row("started (UTC)", ({ startedAt }) => timeText(startedAt)),
    row("duration", ({ startedAt, endedAt }) => (endedAt === undefined ? "–" : formatDuration(endedAt - startedAt))),
    row("by", ({ createdBy }) => createdBy),
    ...(runs.some(({ reusedFrom }) => reusedFrom !== undefined)
      ? [row("training reused from", ({ reusedFrom }) => reusedFrom ?? "–")]
      : []),
  ]);
}

function metricTable(comparison: Comparison): Markup {
  return table(
    comparison,
    "last value",
    comparison.metrics.map(
      (
        row,
      ) => html`<tr><th>${row.metric}${arrow(row)}</th>${row.values.map((_, index) => metricCell(comparison, row, index))}</tr>
`,
    ),
  );
}

function arrow({ goal }: MetricRow): string {
  return goal === undefined ? "" : goal === "min" ? " ↓" : " ↑";
}

function metricCell({ runs }: Comparison, { metric, values, best }: MetricRow, index: number): Markup {
  const cell = values[index];
  if (!cell) return html`<td class="r${index}">–</td>`;
  const { last, lastStep, min, max, delta, relativeDelta } = cell;
  const text = (value: MetricValue): string => metricText(metric, value);
  const hint = `step ${lastStep}; min ${text(min)}, max ${text(max)}`;
  const isBest = best.includes(runs[index]!.runId);
  return html`<td class="number r${index}${isBest ? " best" : ""}" title="${hint}">${text(last)}${
    delta === undefined ? undefined : html`<span class="delta">${deltaText(metric, delta, relativeDelta)}</span>`
  }</td>`;
}

function fields(title: string, comparison: Comparison, rows: readonly Row[]): Markup | undefined {
  if (rows.length === 0) return undefined;
  const lines = rows.map(
    ({ name, values }) =>
      html`<tr><th>${name}</th>${values.map((value, index) => html`<td class="r${index}">${value ?? "–"}</td>`)}</tr>
`,
  );
  return html`<section><h2>${title}</h2>${table(comparison, "", lines)}</section>`;
}
