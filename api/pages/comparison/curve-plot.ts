import { html, jsonMarkup, type Markup } from "../../../core/html/markup";
import { numberText, timeText } from "../../../core/quantities";
import type { Axis, Curve } from "../../compare/comparison";

interface Scale {
  readonly log: boolean;
  at(value: number): number;
  readonly ticks: readonly number[];
}

/**
 * @param logWorthy the ratio of maximum to minimum from which positive values have a logarithmic scale; default: never
 */
export function scaleOf(
  values: readonly number[],
  pixels: readonly [from: number, to: number],
  logWorthy = Number.POSITIVE_INFINITY,
): Scale {
  const finite = values.filter(Number.isFinite);
  let low = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  let high = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (finite.length === 0) [low, high] = [0, 1];
  else if (low === high) {
    const room = Math.abs(low) / 10 || 1;
    [low, high] = [Math.max(low - room, -Number.MAX_VALUE), Math.min(high + room, Number.MAX_VALUE)];
  }
  // The ratio may be infinite although both values are finite. Only a finite threshold selects a logarithmic scale.
  const log = low > 0 && Number.isFinite(logWorthy) && high / low >= logWorthy;
  const [from, to] = pixels;
  // The difference of two finite values must not overflow.
  const unit = Math.max(Math.abs(low), Math.abs(high)) > 1e300 ? 1e-10 : 1;
  const place = log ? Math.log10 : (value: number): number => value * unit;
  const [start, span] = [place(low), place(high) - place(low)];
  return {
    log,
    at: (value) => round(from + ((place(value) - start) / span) * (to - from)),
    ticks: log ? logTicks(low, high) : linearTicks(low * unit, high * unit).map((tick) => tick / unit),
  };
}

function round(pixel: number): number {
  return Math.round(pixel * 100) / 100;
}

/** Returns about five ticks in steps of 1, 2, 2.5 or 5 times a power of ten. */
function linearTicks(low: number, high: number): readonly number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const ticks: number[] = [];
  for (let index = Math.ceil(low / step); index * step <= high && ticks.length < 12; index++) {
    ticks.push(Number((index * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low: number, high: number): readonly number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / 6));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every) ticks.push(Number(`1e${power}`));
  return ticks.length >= 2 ? ticks : [low, high];
}

const size = { width: 640, height: 280 };
const area = { left: 64, right: 628, top: 12, bottom: 240 };

const axisTitles: Readonly<Record<Axis, string>> = {
  step: "step",
  time: "time (UTC)",
  "relative-time": "relative time (s)",
};

/** Draws one metric of all runs as lines, with the data for the page's script. */
export function curvePlot(curve: Curve, indexOf: (runId: string) => number): Markup {
  const series = curve.series.map(({ runId, x, y, total }) => ({
    run: indexOf(runId),
    total,
    x,
    y: y.map(Number),
  }));
  const xScale = scaleOf(
    series.flatMap(({ x }) => x),
    [area.left, area.right],
  );
  const yScale = scaleOf(
    series.flatMap(({ y }) => y),
    [area.bottom, area.top],
  );
  const formatX = (value: number): string => (curve.axis === "time" ? timeText(value) : numberText(value));
  const reduced = series.some(({ total, x }) => total > x.length);
  const data = {
    axis: curve.axis,
    left: area.left,
    right: area.right,
    series: series.map(({ run, x, y }) => ({
      run,
      x,
      y: y.map((value) => (Number.isFinite(value) ? value : null)),
      at: x.map((value) => xScale.at(value)),
    })),
  };
  return html`<figure class="plot curve">
<figcaption>${curve.metric}${reduced ? html` <small>downsampled (min/max kept)</small>` : undefined}</figcaption>
<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${curve.metric}">
${yScale.ticks.map(
  (
    tick,
  ) => html`<line class="grid" x1="${area.left}" x2="${area.right}" y1="${yScale.at(tick)}" y2="${yScale.at(tick)}"/><text class="tick y" x="${area.left - 8}" y="${yScale.at(tick) + 4}">${tickText(tick)}</text>
`,
)}
${thinned(xScale.ticks, curve.axis === "time" ? 3 : 8).map(
  (tick) => html`<text class="tick x" x="${xScale.at(tick)}" y="${area.bottom + 18}">${formatX(tick)}</text>
`,
)}
<line class="axis" x1="${area.left}" x2="${area.right}" y1="${area.bottom}" y2="${area.bottom}"/>
<text class="title" x="${(area.left + area.right) / 2}" y="${area.bottom + 36}">${axisTitles[curve.axis]}</text>
${series.map(({ run, x, y }) => linesOf(x, y, xScale.at, yScale.at, run))}
<line class="cursor" y1="${area.top}" y2="${area.bottom}"/>
</svg>
<div class="values" hidden></div>
<script type="application/json">${jsonMarkup(data)}</script>
</figure>
`;
}

/** Draws a line with gaps at values that are NaN or infinite; a single point is a dot. */
function linesOf(
  x: readonly number[],
  y: readonly number[],
  xAt: (value: number) => number,
  yAt: (value: number) => number,
  run: number,
): Markup {
  const pieces: string[][] = [[]];
  for (let i = 0; i < x.length; i++) {
    if (Number.isFinite(y[i])) pieces.at(-1)!.push(`${xAt(x[i]!)},${yAt(y[i]!)}`);
    else if (pieces.at(-1)!.length > 0) pieces.push([]);
  }
  const dots = pieces.filter((piece) => piece.length === 1).map(([point]) => point!.split(","));
  const path = pieces
    .filter((piece) => piece.length > 1)
    .map((piece) => `M${piece.join("L")}`)
    .join("");
  return html`<g class="run r${run} ${colour(run)}">${path === "" ? undefined : html`<path d="${path}"/>`}${dots.map(
    ([cx, cy]) => html`<circle cx="${cx}" cy="${cy}" r="3"/>`,
  )}</g>
`;
}

/** Returns one of ten colours; further runs repeat them with dashes. */
export function colour(run: number): string {
  return `c${run % 10} d${Math.floor(run / 10) % 5}`;
}

/** Formats a tick to fit the available width; bytes and samples are counted in millions. */
function tickText(value: number): string {
  const [size, unit] = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1, ""],
  ].find(([least]) => Math.abs(value) >= Number(least)) ?? [1, ""];
  return Math.abs(value) >= 1e15 ? numberText(value) : `${numberText(value / Number(size))}${unit}`;
}

function thinned(ticks: readonly number[], most: number): readonly number[] {
  const every = Math.ceil(ticks.length / most);
  return ticks.filter((_, index) => index % every === 0);
}
