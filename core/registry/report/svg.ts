import type { Calibration } from "../../evaluation/calibration";
import type { LatencyReport } from "../../evaluation/latency";
import type { SliceEvidence } from "../../evaluation/slices/evidence";
import { shown } from "./report";

/** Small plots, as SVG with classes that the page colours. All text is escaped. */
export function escaped(text: string): string {
  const marks: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (mark) => marks[mark]!);
}

const number = (value: number): string => String(Number(value.toFixed(2)));
const frame = (width: number, height: number, label: string, inside: string): string =>
  `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">${inside}</svg>`;
const words = (x: number, y: number, text: string, anchor = "start"): string =>
  `<text x="${number(x)}" y="${number(y)}" text-anchor="${anchor}">${escaped(text)}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, kind: string): string =>
  `<line class="${kind}" x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" y2="${number(y2)}"/>`;
const box = (x: number, y: number, width: number, height: number, kind: string, more = ""): string =>
  `<rect class="${kind}" x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"${more}/>`;

const mostBars = 40;

/** A bar a slice with its interval; the limit of a worst slice as a line. */
export function sliceBars({ slices, column }: SliceEvidence, limit: number | undefined): string {
  const rows = slices.slice(0, mostBars);
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

const mostClasses = 30;

/** Rows are true classes; the darker, the larger the share of the row. */
export function confusionPlot(counts: readonly (readonly number[])[], names: readonly string[]): string {
  if (names.length > mostClasses) return "";
  const side = names.length > 12 ? 22 : 40;
  const [left, top] = [110, 24];
  const cells = counts.flatMap((row, y) => {
    const total = row.reduce((sum, count) => sum + count, 0) || 1;
    return row.map((count, x) => {
      const shade = ` fill-opacity="${number(count / total)}"`;
      const title = `<title>${escaped(`${names[y]} as ${names[x]}: ${count}`)}</title>`;
      const cell = box(left + x * side, top + y * side, side - 1, side - 1, "cell", shade);
      const label = words(left + (x + 0.5) * side, top + (y + 0.6) * side, String(count), "middle");
      // On a full cell the page's own ground stands out, its ink does not.
      return `<g${count / total > 0.5 ? ' class="full"' : ""}>${title}${cell}${label}</g>`;
    });
  });
  const labels = names.flatMap((name, at) => [
    words(left - 6, top + (at + 0.6) * side, short(name), "end"),
    words(left + (at + 0.5) * side, top - 6, short(name, Math.ceil(side / 7)), "middle"),
  ]);
  const size = names.length * side;
  return frame(left + size + 10, top + size + 4, "confusion matrix", cells.join("") + labels.join(""));
}

/** Confidence from left to right, what came true from the bottom up; dots are as large as they have rows. */
export function calibrationPlot({ bins }: Calibration): string {
  const [origin, side] = [36, 220];
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  const x = (value: number): number => origin + value * side;
  const y = (value: number): number => 10 + (1 - value) * side;
  const dots = bins
    .filter(({ rows }) => rows > 0)
    .map(({ rows, confidence, observed, from, to }) => {
      const title = `<title>${escaped(`${from} – ${to}: ${rows} rows, ${shown(confidence)} expected, ${shown(observed)} came true`)}</title>`;
      return `<circle class="dot" cx="${number(x(confidence))}" cy="${number(y(observed))}" r="${number(3 + 9 * Math.sqrt(rows / most))}">${title}</circle>`;
    });
  const axes =
    line(x(0), y(0), x(1), y(0), "axis") + line(x(0), y(0), x(0), y(1), "axis") + line(x(0), y(0), x(1), y(1), "limit");
  const labels =
    words(x(0), y(0) + 16, "0") +
    words(x(1), y(0) + 16, "1", "end") +
    words(x(0.5), y(0) + 16, "probability", "middle");
  return frame(origin + side + 20, side + 34, "calibration", axes + labels + dots.join(""));
}

/** Counts of predictions by their time. */
export function latencyPlot({ histogram, p99Ms }: LatencyReport): string {
  const [left, wide, high] = [10, 480, 110];
  const most = Math.max(1, ...histogram.map(({ count }) => count));
  const step = wide / histogram.length;
  const bars = histogram.map(({ fromMs, toMs, count }, at) => {
    const height = (count / most) * high;
    const kind = fromMs >= p99Ms ? "bar late" : "bar";
    const title = `<title>${escaped(`${shown(fromMs)} – ${shown(toMs)} ms: ${count}`)}</title>`;
    return `<g>${title}${box(left + at * step, high - height + 4, step - 1, height, kind)}</g>`;
  });
  const [first, last] = [histogram[0], histogram.at(-1)];
  const labels =
    words(left, high + 20, `${shown(first?.fromMs ?? null)} ms`) +
    words(left + wide, high + 20, `${shown(last?.toMs ?? null)} ms`, "end");
  return frame(left + wide + 10, high + 28, "times of single predictions", bars.join("") + labels);
}

function short(text: string, most = 18): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}
