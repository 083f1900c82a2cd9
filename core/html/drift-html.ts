import type { ColumnDrift, DriftBins, DriftReport, ModelDriftReport, MultivariateDrift } from "../drift/shapes";
import type { Page } from "./document";
import { pageOf } from "./layout";
import { html, type Markup } from "./markup";
import { listing, pairs, shortened } from "./tables";

const maxPlots = 60;

export function driftHtml(report: DriftReport | ModelDriftReport, now: number): Page {
  const { baseline, thresholds, rows, schema, columns, multivariate, severity } = report;
  const nameOf = ({ name, version }: DriftReport["baseline"]) => `${name}@${version}`;
  const ordered = [...columns].sort((one, other) => rankOf(other) - rankOf(one));
  const current = "model" in report ? `inferences of ${report.model}/${report.version}` : nameOf(report.current);
  const title = `${current} against ${nameOf(baseline)}`;
  const body = html`<div class="head"><h1>${title}</h1><span class="badge ${severity === undefined ? "completed" : "failed"}">${severity ?? "no drift"}</span></div>
${pairs("Measured", [
  ["rows", `${rows.baseline} of the baseline, ${rows.current} current`],
  ["drift", `adjusted p below ${thresholds.level} and a distance of at least ${thresholds.distance}`],
  ["critical", `stability index (PSI) above ${thresholds.psi}, or a column that is gone or of another type`],
  ...(multivariate ? ([["all columns", multivariateText(multivariate)]] as const) : []),
])}
${listing(
  "Schema",
  ["column", "change", "severity"],
  schema.map(
    ({ column, change, before, after, severity: level }) =>
      html`<tr><td>${shortened(column, 120)}</td><td>${change}${before && html` ${before}`}${after && html` → ${after}`}</td><td>${level}</td></tr>`,
  ),
)}
${listing(
  "Columns",
  ["column", "role", "drift", "PSI", "KL", "JS", "Wasserstein (σ)", "distance", "adjusted p", "missing"],
  ordered.map(columnRow),
)}
<section><h2>Distributions</h2><p class="faint">Share of rows by bin: <span class="c0">■</span> baseline, <span class="c1">■</span> current.</p>
<div class="plots small">${ordered.slice(0, maxPlots).map(plot)}</div></section>`;
  return pageOf({ title: `${title} – drift`, crumbs: [], body, at: new Date(now).toISOString() });
}

function multivariateText({ auc, low, high, pValue, severity, ...of }: MultivariateDrift): string {
  const interval = `[${numberText(low)}, ${numberText(high)}]`;
  const test = `AUC ${numberText(auc)}, 95 % CI ${interval}, p = ${numberText(pValue)}`;
  return `${severity ?? "no drift"}: a classifier separates ${of.rows.current} current from ${of.rows.baseline} baseline rows, in ${of.columns} columns, with ${test}`;
}

/** Orders columns: those with drift first, then by the stability index. */
function rankOf({ severity, psi }: ColumnDrift): number {
  return (severity === undefined ? 0 : 1e6) + Math.min(psi, 1e5);
}

function columnRow(one: ColumnDrift): Markup {
  const { column, role, severity, psi, kl, js, wasserstein, distance, adjustedPValue, baseline, current } = one;
  const missing = [baseline, current].map(({ rows, missing: none }) => percent(rows === 0 ? 0 : none / rows));
  const numbers = [psi, kl, js, wasserstein, distance, adjustedPValue].map(
    (value) => html`<td class="number">${value === undefined ? "–" : numberText(value)}</td>`,
  );
  return html`<tr><td>${shortened(column, 120)}</td><td>${role}</td><td>${severity ?? "–"}</td>${numbers}<td class="number">${missing[0]} → ${missing[1]}</td></tr>`;
}

/** Formats with three significant digits; small probabilities with an exponent. */
export function numberText(value: number): string {
  if (value === 0) return "0";
  return Math.abs(value) < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

const percent = (share: number): string => `${numberText(100 * share)} %`;

const [width, height, foot] = [300, 120, 16];
const maxBars = 24;

function plot({ column, severity, bins }: ColumnDrift): Markup {
  const shown = shortenedBins(bins);
  const sides = [shown.baseline, shown.current].map((counts) => {
    const total = counts.reduce((sum, rows) => sum + rows, 0) || 1;
    return counts.map((rows) => rows / total);
  });
  const most = Math.max(...sides.flat(), 1e-9);
  const step = width / Math.max(1, shown.names.length);
  const bars = sides.map(
    (shares, side) =>
      html`<g class="c${side}">${shares.map((share, bin) => {
        const tall = (share / most) * height;
        const words = `${shown.names[bin]}: ${percent(share)} of the ${side === 0 ? "baseline" : "current"} rows`;
        return html`<rect fill="currentColor" x="${(bin * step + side * step * 0.42 + 0.05 * step).toFixed(1)}" y="${(height - tall).toFixed(1)}" width="${(step * 0.42).toFixed(1)}" height="${tall.toFixed(1)}"><title>${words}</title></rect>`;
      })}</g>`,
  );
  const ends = [shown.names[0] ?? "", shown.names.at(-1) ?? ""];
  return html`<figure class="plot"><figcaption>${shortened(column, 80)}${severity && html` <small>${severity}</small>`}</figcaption>
<svg viewBox="0 0 ${width} ${height + foot}" role="img" aria-label="${`distribution of ${column}`}">${bars}<line class="axis" x1="0" y1="${height}" x2="${width}" y2="${height}"/>
<text class="tick" x="0" y="${height + 12}">${shortened(ends[0]!, 20)}</text><text class="tick y" x="${width}" y="${height + 12}">${shortened(ends[1]!, 20)}</text></svg></figure>`;
}

/** Joins the bins after the first ones, and omits the bin of missing values if no value is missing. */
function shortenedBins({ names, baseline, current }: DriftBins): DriftBins {
  const kept = names
    .map((_name, bin) => bin)
    .filter((bin) => baseline[bin]! + current[bin]! > 0 || !["missing", "other"].includes(names[bin]!));
  const [first, rest] = [kept.slice(0, maxBars), kept.slice(maxBars)];
  const joined = (counts: readonly number[]) => [
    ...first.map((bin) => counts[bin]!),
    ...(rest.length > 0 ? [rest.reduce((sum, bin) => sum + counts[bin]!, 0)] : []),
  ];
  return {
    names: [...first.map((bin) => names[bin]!), ...(rest.length > 0 ? [`${rest.length} more`] : [])],
    baseline: joined(baseline),
    current: joined(current),
  };
}
