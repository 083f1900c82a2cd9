import { byRank } from "../../../core/evaluation/metric-goal";
import { html, type Markup } from "../../../core/html/markup";
import { numberText } from "../../../core/quantities";
import type { Comparison, Row } from "../../compare/comparison";
import { colour, scaleOf } from "./curve-plot";
import { byStrength, isNumber } from "./param-strength";

const maxAxes = 8;
const maxScatters = 6;
/** Ratio from which a param's values have a logarithmic scale, such as learning rates. */
const logWorthy = 50;

interface AxisOf {
  readonly name: string;
  readonly at: readonly (number | undefined)[];
  readonly labels: readonly { readonly y: number; readonly text: string }[];
}

/** Draws parallel coordinates of the params that explain most of the metric, and the metric over each numeric param. */
export function paramPlots({ runs, params, metrics, rankedBy }: Comparison): Markup | undefined {
  const rank = byRank(runs);
  const ranked = metrics.find((row) => row.metric === rankedBy?.metric);
  const metric = ranked ?? [...metrics].filter(({ goal }) => goal).sort((a, b) => rank(a.metric, b.metric))[0];
  if (metric === undefined || runs.length < 2) return undefined;
  const values = metric.values.map((cell) => (cell === null ? Number.NaN : Number(cell.last)));
  const strongest = byStrength(params.differing, values);
  if (strongest.length === 0) return undefined;
  const axes = strongest.slice(0, maxAxes);
  const left = strongest.length - axes.length;
  const numeric = strongest.filter((row) => row.values.every((value) => value === null || isNumber(value)));
  return html`<section><h2>Params and ${metric.metric} <small>params that explain most of it first${left > 0 ? `; ${left} more not shown` : ""}</small></h2>
${parallel([...axes.map(paramAxis), numberAxis(metric.metric, values, false)], runs.length)}
<div class="plots small">${numeric.slice(0, maxScatters).map((row) => scatter(row, metric.metric, values))}</div>
</section>`;
}

const height = { top: 36, bottom: 236 };

function paramAxis(row: Row): AxisOf {
  const present = row.values.filter((value) => value !== null);
  if (present.every(isNumber)) {
    return numberAxis(
      row.name,
      row.values.map((value) => (value === null ? Number.NaN : Number(value))),
      true,
    );
  }
  const texts = [...new Set(present)].sort();
  const yOf = (text: string): number =>
    texts.length === 1
      ? (height.top + height.bottom) / 2
      : height.bottom - ((height.bottom - height.top) * texts.indexOf(text)) / (texts.length - 1);
  return {
    name: row.name,
    at: row.values.map((value) => (value === null ? undefined : yOf(value))),
    labels: texts.filter((_, at) => at % Math.ceil(texts.length / 12) === 0).map((text) => ({ y: yOf(text), text })),
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

/** Pixels of a character, at 12 pixels for titles and 11 for ticks. */
const charWidth = { title: 8, tick: 6.7 };
/** Space between an axis and its labels, and around them. */
const gap = 6;
const minSpacing = 150;
const maxCharacters = 48;

function parallel(axes: readonly AxisOf[], runs: number): Markup {
  const between = Math.max(minSpacing, 860 / (axes.length - 1));
  const trimmed = (text: string, kind: keyof typeof charWidth, room: number): string =>
    shortened(text, Math.min(maxCharacters, Math.floor(room / charWidth[kind])));
  const titles = leavesOf(axes.map(({ name }) => name)).map((name) => trimmed(name, "title", between - 2 * gap));
  const labels = axes.map((axis) =>
    axis.labels.map(({ y, text }) => ({ y, text, shown: trimmed(text, "tick", between - 3 * gap) })),
  );
  const halfTitle = (axis: number): number => (widthOf(titles[axis] ?? "") * charWidth.title) / 2;
  const last = axes.length - 1;
  const lastLabels = (labels[last] ?? []).map(({ shown }) => gap + widthOf(shown) * charWidth.tick);
  const left = Math.max(12, halfTitle(0) + gap);
  const width = Math.ceil(left + last * between + Math.max(halfTitle(last), ...lastLabels) + gap);
  const xOf = (axis: number): number => Math.round(left + axis * between);
  const lineOf = (run: number): string => {
    const points = axes.flatMap((axis, at) => (axis.at[run] === undefined ? [] : [`${xOf(at)},${axis.at[run]}`]));
    return points.length < 2 ? "" : `M${points.join("L")}`;
  };
  return html`<figure class="plot wide parallel"><svg viewBox="0 0 ${width} 252" width="${width}" role="img" aria-label="params and metric">
${axes.map(({ name }, at) => axisLine(name, titles[at] ?? name, xOf(at)))}
${Array.from({ length: runs }, (_, run) => html`<g class="run r${run} ${colour(run)}"><path d="${lineOf(run)}"/></g>`)}
${labels.map((own, at) => axisLabels(own, xOf(at)))}
</svg></figure>`;
}

/** Shortens dotted names to their last parts if these are distinct. */
function leavesOf(names: readonly string[]): readonly string[] {
  const leaves = names.map((name) => name.slice(name.lastIndexOf(".") + 1));
  return names.map((name, at) => {
    const leaf = leaves[at] ?? name;
    return leaf === "" || leaves.indexOf(leaf) !== leaves.lastIndexOf(leaf) ? name : leaf;
  });
}

function axisLine(name: string, title: string, x: number): Markup {
  return html`<line class="axis" x1="${x}" x2="${x}" y1="${height.top}" y2="${height.bottom}"/>
<text class="title" x="${x}" y="18"><title>${name}</title>${title}</text>`;
}

/** Drawn over the lines, so that they are legible. */
function axisLabels(
  labels: readonly { readonly y: number; readonly text: string; readonly shown: string }[],
  x: number,
): Markup {
  return html`${labels.map(
    ({ y, text, shown }) =>
      html`<text class="tick left" x="${x + gap}" y="${y + 4}">${shown === text ? undefined : html`<title>${text}</title>`}${shown}</text>`,
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

/** Returns the width in columns: East Asian characters and pictures take two. */
function widthOf(text: string): number {
  return [...text].reduce((sum, character) => sum + ((character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1), 0);
}

/** Keeps the end of a dotted name, which is the most specific part. */
function shortened(text: string, maxWidth: number): string {
  if (widthOf(text) <= maxWidth) return text;
  const characters = [...text.slice(-2 * maxWidth)];
  while (characters.length > 0 && widthOf(characters.join("")) > maxWidth - 1) characters.shift();
  return `…${characters.join("")}`;
}
