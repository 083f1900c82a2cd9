import { decodeValue } from "../../metric-values";
import type { Comparison, Row } from "../comparison";
import { numberText } from "../numbers";
import { colour } from "./curve-plot";
import { html, type Markup } from "./markup";
import { scaleOf } from "./scale";

const mostAxes = 8;
const mostScatters = 6;
/** From here on a param's values are drawn by their logarithm: learning rates. */
const logWorthy = 50;

interface AxisOf {
  readonly name: string;
  /** Of each run, or `undefined`. */
  readonly at: readonly (number | undefined)[];
  readonly labels: readonly { readonly y: number; readonly text: string }[];
}

/** How params and the metric go together: parallel coordinates over all, and the metric over each numeric param. */
export function paramPlots({ runs, params, metrics, rankedBy }: Comparison): Markup | undefined {
  const judged = metrics.filter(({ goal }) => goal !== undefined);
  const metric =
    metrics.find((row) => row.metric === rankedBy?.metric) ??
    judged.find((row) => /^(?:val|test)/.test(row.metric)) ??
    judged[0];
  const varied = params.differing.filter(({ values }) => values.some((value) => value !== null));
  if (metric === undefined || varied.length === 0 || runs.length < 2) return undefined;
  const values = metric.values.map((cell) => (cell === null ? Number.NaN : decodeValue(cell.last)));
  const numeric = varied.filter((row) => row.values.every((value) => value === null || isNumber(value)));
  return html`<section><h2>Params and ${metric.metric}</h2>
${parallel([...varied.slice(0, mostAxes).map(paramAxis), numberAxis(metric.metric, values, false)], runs.length)}
<div class="plots small">${numeric.slice(0, mostScatters).map((row) => scatter(row, metric.metric, values))}</div>
</section>`;
}

const height = { top: 36, bottom: 236 };

function paramAxis(row: Row): AxisOf {
  const known = row.values.filter((value) => value !== null);
  if (known.every(isNumber)) {
    return numberAxis(
      row.name,
      row.values.map((value) => (value === null ? Number.NaN : Number(value))),
      true,
    );
  }
  const texts = [...new Set(known)].sort();
  const yOf = (text: string): number =>
    texts.length === 1
      ? (height.top + height.bottom) / 2
      : height.bottom - ((height.bottom - height.top) * texts.indexOf(text)) / (texts.length - 1);
  return {
    name: row.name,
    at: row.values.map((value) => (value === null ? undefined : yOf(value))),
    labels: texts.slice(0, 12).map((text) => ({ y: yOf(text), text })),
  };
}

function numberAxis(name: string, values: readonly number[], mayBeLog: boolean): AxisOf {
  const scale = scaleOf(values, [height.bottom, height.top], mayBeLog ? logWorthy : undefined);
  return {
    name,
    at: values.map((value) => (Number.isFinite(value) ? scale.at(value) : undefined)),
    labels: scale.ticks.map((tick) => ({ y: scale.at(tick), text: numberText(tick) })),
  };
}

function parallel(axes: readonly AxisOf[], runs: number): Markup {
  const width = Math.max(1_000, axes.length * 150);
  const xOf = (axis: number): number => 60 + (axis * (width - 140)) / Math.max(1, axes.length - 1);
  const lineOf = (run: number): string => {
    const points = axes.flatMap((axis, at) => (axis.at[run] === undefined ? [] : [`${xOf(at)},${axis.at[run]}`]));
    return points.length < 2 ? "" : `M${points.join("L")}`;
  };
  return html`<figure class="plot wide"><svg viewBox="0 0 ${width} 252" role="img" aria-label="params and metric">
${axes.map((axis, at) => axisLine(axis, xOf(at)))}
${Array.from({ length: runs }, (_, run) => html`<g class="run r${run} ${colour(run)}"><path d="${lineOf(run)}"/></g>`)}
${axes.map((axis, at) => axisLabels(axis, xOf(at)))}
</svg></figure>`;
}

function axisLine({ name }: AxisOf, x: number): Markup {
  return html`<line class="axis" x1="${x}" x2="${x}" y1="${height.top}" y2="${height.bottom}"/>
<text class="title" x="${x}" y="18"><title>${name}</title>${shortened(name, 22)}</text>`;
}

/** Over the lines, so that they can be read. */
function axisLabels({ labels }: AxisOf, x: number): Markup {
  return html`${labels.map(
    ({ y, text }) => html`<text class="tick left" x="${x + 5}" y="${y + 4}">${shortened(text, 14)}</text>`,
  )}`;
}

function scatter(row: Row, metric: string, values: readonly number[]): Markup {
  const points = row.values.flatMap((value, run) =>
    value !== null && Number.isFinite(values[run]) ? [{ run, x: Number(value), y: values[run]! }] : [],
  );
  const x = scaleOf(
    points.map((point) => point.x),
    [64, 308],
    logWorthy,
  );
  const y = scaleOf(
    points.map((point) => point.y),
    [180, 14],
  );
  return html`<figure class="plot"><figcaption>${row.name}${x.log ? html` <small>log scale</small>` : undefined}</figcaption>
<svg viewBox="0 0 320 220" role="img" aria-label="${metric} over ${row.name}">
${y.ticks.map((tick) => html`<line class="grid" x1="64" x2="308" y1="${y.at(tick)}" y2="${y.at(tick)}"/><text class="tick y" x="56" y="${y.at(tick) + 4}">${numberText(tick)}</text>`)}
${x.ticks.map((tick) => html`<text class="tick x" x="${x.at(tick)}" y="200">${numberText(tick)}</text>`)}
<line class="axis" x1="64" x2="308" y1="180" y2="180"/>
${points.map((point) => html`<g class="run r${point.run} ${colour(point.run)}"><circle cx="${x.at(point.x)}" cy="${y.at(point.y)}" r="5"><title>${numberText(point.x)}: ${numberText(point.y)}</title></circle></g>`)}
</svg></figure>`;
}

function isNumber(text: string): boolean {
  return text.trim() !== "" && Number.isFinite(Number(text));
}

/** The end of a dotted name tells most. */
function shortened(text: string, most: number): string {
  return text.length <= most ? text : `…${text.slice(1 - most)}`;
}
