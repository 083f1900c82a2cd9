import { importanceText, shown } from "../../core/evaluation/evaluation-tables";
import type { CurvePoint, RankingCurves } from "../../core/evaluation/ranking";
import type { Calibration, ImportanceReport, LatencyReport, SliceEvidence } from "../../core/evaluation/shapes";
import { escapeHtml } from "../../core/html/markup";

// Small plots as SVG with classes that the page colours. All text is escaped.
const number = (value: number): string => String(Number(value.toFixed(2)));
const frame = (width: number, height: number, label: string, inside: string): string =>
  `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(label)}">${inside}</svg>`;
const words = (x: number, y: number, text: string, anchor = "start"): string =>
  `<text x="${number(x)}" y="${number(y)}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line class="${kind}" x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" y2="${number(y2)}"/>`;
const box = (x: number, y: number, width: number, height: number, kind: string, more = ""): string =>
  `<rect class="${kind}" x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"${more}/>`;

const maxBars = 40;

export function sliceBars({ slices, column }: SliceEvidence, limit: number | undefined): string {
  const rows = slices.slice(0, maxBars);
  const most = Math.max(limit ?? 0, ...rows.map(({ upper }) => upper));
  const least = Math.min(0, limit ?? 0, ...rows.map(({ lower }) => lower));
  const [left, wide, step] = [150, 380, 22];
  const at = (value: number): number => left + ((value - least) / (most - least || 1)) * wide;
  const bars = rows.map(({ value, rows: count, estimate, lower, upper }, index) => {
    const y = index * step + 4;
    const middle = y + 7;
    return [
      words(left - 8, y + 11, short(String(value)), "end"),
      box(Math.min(at(0), at(estimate)), y, Math.abs(at(estimate) - at(0)), 14, "bar"),
      line(at(lower), middle, at(upper), middle, "interval"),
      line(at(lower), y + 3, at(lower), y + 11, "interval"),
      line(at(upper), y + 3, at(upper), y + 11, "interval"),
      words(left + wide + 10, y + 11, `${shown(estimate)} of ${count}`),
    ].join("");
  });
  const height = rows.length * step + 8;
  const mark = limit === undefined ? "" : line(at(limit), 0, at(limit), height, "limit");
  return frame(left + wide + 130, height, `slices by ${column}`, bars.join("") + mark);
}

const maxImportances = 20;

export function importanceBars({ columns }: ImportanceReport): string {
  const rows = columns.slice(0, maxImportances);
  const most = Math.max(0, ...rows.map(({ mean, deviation }) => mean + deviation));
  const least = Math.min(0, ...rows.map(({ mean, deviation }) => mean - deviation));
  const [left, wide, step] = [150, 240, 22];
  const at = (value: number): number => left + ((value - least) / (most - least || 1)) * wide;
  const bars = rows.map(({ columns: names, mean, deviation }, index) => {
    const y = index * step + 4;
    const title = `<title>${escapeHtml(names.join(", "))}</title>`;
    return [
      `<g>${title}`,
      words(left - 8, y + 11, short(names.join(", ")), "end"),
      box(Math.min(at(0), at(mean)), y, Math.abs(at(mean) - at(0)), 14, "amount"),
      line(at(mean - deviation), y + 7, at(mean + deviation), y + 7, "axis"),
      words(left + wide + 10, y + 11, importanceText({ mean, deviation })),
      "</g>",
    ].join("");
  });
  return frame(left + wide + 170, rows.length * step + 8, "importance of columns", bars.join(""));
}

const maxClasses = 30;

/**
 * Draws a confusion matrix: rows are true classes, columns predicted ones; a darker cell has a larger share of its row.
 */
export function confusionPlot(counts: readonly (readonly number[])[], names: readonly string[]): string {
  if (names.length > maxClasses) return "";
  const side = names.length > 12 ? 30 : names.length > 4 ? 38 : 56;
  const longest = Math.max(...names.map((name) => short(name).length));
  // Names that are wider than a cell are rotated.
  const turned = longest * 7 > side;
  const left = 34 + longest * 7;
  const top = 26 + (turned ? longest * 7 : 14);
  const cells = counts.flatMap((row, y) => {
    const total = row.reduce((sum, count) => sum + count, 0) || 1;
    return row.map((count, x) => {
      const shade = ` fill-opacity="${number(count / total)}"`;
      const title = `<title>${escapeHtml(`true ${names[y]}, predicted ${names[x]}: ${count}`)}</title>`;
      const cell = box(left + x * side, top + y * side, side - 1, side - 1, "cell", shade);
      const label = words(left + (x + 0.5) * side, top + (y + 0.5) * side + 4, countText(count), "middle");
      // On a dark cell the text has the page's background colour.
      const kind = count === 0 ? ' class="none"' : count / total > 0.5 ? ' class="full"' : "";
      return `<g${kind}>${title}${cell}${label}</g>`;
    });
  });
  const size = names.length * side;
  const labels = names.flatMap((name, at) => {
    const x = left + (at + 0.5) * side;
    return [
      words(left - 6, top + (at + 0.5) * side + 4, short(name), "end"),
      turned
        ? `<g transform="rotate(-90 ${number(x)} ${top - 6})">${words(x, top - 2, short(name))}</g>`
        : words(x, top - 6, short(name), "middle"),
    ];
  });
  const middle = top + size / 2;
  const titles =
    words(left + size / 2, 12, "predicted", "middle") +
    `<g transform="rotate(-90 12 ${middle})">${words(12, middle + 4, "true", "middle")}</g>`;
  // Short labels must not make the matrix narrower than the title of its axis.
  const width = left + Math.max(size, 40) + 10;
  return frame(width, top + size + 4, "confusion matrix", cells.join("") + labels.join("") + titles);
}

/** Formats a count with up to four characters: `980`, `12k`, `3.4M`. */
function countText(count: number): string {
  if (count < 10_000) return String(count);
  const [size, unit] = count < 1e6 ? [1e3, "k"] : [1e6, "M"];
  const value = count / size;
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)}${unit}`;
}

const plot = { left: 60, top: 12, side: 236 } as const;
const across = (value: number): number => plot.left + value * plot.side;
const up = (value: number): number => plot.top + (1 - value) * plot.side;

/** Frames a plot of two shares, both from 0 to 1, with ticks and the titles of its axes. */
function unitPlot(
  label: string,
  titles: { readonly x: string; readonly y: string },
  inside: string,
  tickText: (tick: number) => string = String,
): string {
  const { left, top, side } = plot;
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((tick) => [
    line(across(tick), up(0), across(tick), up(1), "grid"),
    line(across(0), up(tick), across(1), up(tick), "grid"),
    words(across(tick), up(0) + 16, tickText(tick), "middle"),
    words(left - 7, up(tick) + 4, tickText(tick), "end"),
  ]);
  const middle = top + side / 2;
  const axes =
    line(across(0), up(0), across(1), up(0), "axis") +
    line(across(0), up(0), across(0), up(1), "axis") +
    words(left + side / 2, up(0) + 34, titles.x, "middle") +
    `<g transform="rotate(-90 12 ${middle})">${words(12, middle + 4, titles.y, "middle")}</g>`;
  return frame(left + side + 14, top + side + 42, label, ticks.join("") + axes + inside);
}

export interface NamedCurve extends RankingCurves {
  readonly name: string;
  readonly auc: number;
}

const path = (points: readonly CurvePoint[], name: string, kind: string): string => {
  const places = points.map(([x, y]) => `${number(across(x))},${number(up(y))}`);
  return `<g class="${kind}"><title>${escapeHtml(name)}</title><path class="curve" d="M${places.join("L")}"/></g>`;
};
const colourOf = (at: number): string => `c${at % 10}`;

/** Draws the true positive rate against the false positive rate; the diagonal is a random order. */
export function rocPlot(curves: readonly NamedCurve[]): string {
  const lines = curves.map(({ name, auc, roc }, at) => path(roc, `${name}: AUC ${shown(auc)}`, colourOf(at)));
  const chance = line(across(0), up(0), across(1), up(1), "limit");
  return unitPlot("ROC curve", { x: "false positive rate", y: "true positive rate" }, chance + lines.join(""));
}

/** Draws precision against recall, in steps; the dashed line is a random order. */
export function precisionRecallPlot({ name, precisionRecall, prevalence }: NamedCurve): string {
  let recall = 0;
  const steps = precisionRecall.flatMap(([x, y]): CurvePoint[] => {
    const from: CurvePoint = [recall, y];
    recall = x;
    return [from, [x, y]];
  });
  const chance = line(across(0), up(prevalence), across(1), up(prevalence), "limit");
  return unitPlot("precision-recall curve", { x: "recall", y: "precision" }, chance + path(steps, name, colourOf(0)));
}

/** Draws observed frequency against predicted probability; a dot's size shows its number of rows. */
export function calibrationPlot({ bins }: Calibration): string {
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  const dots = bins
    .filter(({ rows }) => rows > 0)
    .map(({ rows, confidence, observed, from, to }) => {
      const title = `${from} – ${to}: ${rows} rows, mean probability ${shown(confidence)}, observed ${shown(observed)}`;
      const [x, y, r] = [across(confidence), up(observed), 3 + 9 * Math.sqrt(rows / most)].map(number);
      return `<circle class="dot" cx="${x}" cy="${y}" r="${r}"><title>${escapeHtml(title)}</title></circle>`;
    });
  const perfect = line(across(0), up(0), across(1), up(1), "limit");
  const titles = { x: "predicted probability", y: "observed frequency" };
  return unitPlot("calibration", titles, perfect + dots.join(""));
}

export function scatterPlot(points: readonly CurvePoint[]): string {
  const all = points.flat().filter(Number.isFinite);
  const low = all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = all.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (!(high > low)) return "";
  const startOf = (step: number): number => Math.floor(low / step) * step;
  // The smallest round step of which four cover the values.
  const power = 10 ** Math.floor(Math.log10((high - low) / 4));
  const step =
    [1, 2, 2.5, 5, 10, 20].map((factor) => factor * power).find((one) => startOf(one) + 4 * one >= high) ?? 0;
  const start = startOf(step);
  const share = (value: number): number => (value - start) / (4 * step);
  const dots = points.map(
    ([x, y]) => `<circle class="dot" cx="${number(across(share(x)))}" cy="${number(up(share(y)))}" r="2.5"/>`,
  );
  const perfect = line(across(0), up(0), across(1), up(1), "limit");
  const tick = (at: number): string => String(Number((start + 4 * at * step).toPrecision(6)));
  return unitPlot("predicted and true values", { x: "true", y: "predicted" }, perfect + dots.join(""), tick);
}

export function latencyPlot({ histogram, p99Ms }: LatencyReport): string {
  const [left, wide, high] = [10, 480, 110];
  const most = Math.max(1, ...histogram.map(({ count }) => count));
  const step = wide / histogram.length;
  const bars = histogram.map(({ fromMs, toMs, count }, at) => {
    const height = (count / most) * high;
    const kind = fromMs >= p99Ms ? "bar late" : "bar";
    const title = `<title>${escapeHtml(`${shown(fromMs)} – ${shown(toMs)} ms: ${count}`)}</title>`;
    return `<g>${title}${box(left + at * step, high - height + 4, step - 1, height, kind)}</g>`;
  });
  const [first, last] = [histogram[0], histogram.at(-1)];
  const labels =
    words(left, high + 20, `${shown(first?.fromMs ?? null)} ms`) +
    words(left + wide, high + 20, `${shown(last?.toMs ?? null)} ms`, "end");
  return frame(left + wide + 10, high + 28, "times of single predictions", bars.join("") + labels);
}

function short(text: string): string {
  return text.length <= 18 ? text : `${text.slice(0, 17)}…`;
}
