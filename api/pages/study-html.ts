import { quantile } from "../../core/evaluation/draws";
import type { Page } from "../../core/html/document";
import { link, pageOf } from "../../core/html/layout";
import { escapeHtml, html, Markup } from "../../core/html/markup";
import { listing, pairs, shortened } from "../../core/html/tables";
import { formatDuration, timeText } from "../../core/quantities";
import { lossesOf, type Objective } from "../../core/tuning/history";
import type { StudyState } from "../../core/tuning/ports";
import { isActive, type Study, type Trial } from "../../core/tuning/shapes";
import { indexOfChoice, internalBounds, type Json, type Parameter, toInternal } from "../../core/tuning/space";
import type { Links } from "./links";
import { importanceOf } from "./study-importance";

// Small plots as SVG. Colours follow the page's text, so that both themes can be read.

const [width, height, margin] = [640, 240, 46];
const number = (value: number): string => String(Number(value.toFixed(1)));
const label = (value: number): string => String(Number(value.toPrecision(3)));

type Place = readonly [x: number, y: number];
type Scale = (value: number) => number;

function frame(title: string, inside: string, tall = height): Markup {
  return new Markup(
    `<svg viewBox="0 0 ${width} ${tall}" width="${width}" height="${tall}" role="img" aria-label="${escapeHtml(title)}" font-size="11" fill="currentColor">${inside}</svg>`,
  );
}

function text(x: number, y: number, words: string, anchor = "start"): string {
  return `<text x="${number(x)}" y="${number(y)}" text-anchor="${anchor}">${escapeHtml(words)}</text>`;
}

function line(places: readonly Place[], opacity: number, hint: string): string {
  const points = places.map(([x, y]) => `${number(x)},${number(y)}`).join(" ");
  return `<polyline points="${points}" fill="none" stroke="currentColor" stroke-opacity="${opacity}"><title>${escapeHtml(hint)}</title></polyline>`;
}

function dot([x, y]: Place, hint: string, opacity = 1): string {
  return `<circle cx="${number(x)}" cy="${number(y)}" r="3" fill-opacity="${opacity}"><title>${escapeHtml(hint)}</title></circle>`;
}

function scaleOf([low, high]: readonly [number, number], [from, to]: readonly [number, number]): Scale {
  return (value) => from + ((Math.min(high, Math.max(low, value)) - low) / (high - low || 1)) * (to - from);
}

function axes(
  x: readonly [number | string, number | string],
  y: readonly [number, number],
  names: readonly [string, string],
): string {
  const [left, right, top, bottom] = [margin, width - 10, 12, height - 30];
  return (
    line(
      [
        [left, top],
        [left, bottom],
        [right, bottom],
      ],
      0.5,
      "",
    ) +
    text(left - 4, top + 8, label(y[1]), "end") +
    text(left - 4, bottom, label(y[0]), "end") +
    text(left, bottom + 14, endText(x[0])) +
    text(right, bottom + 14, endText(x[1]), "end") +
    text((left + right) / 2, bottom + 14, names[0], "middle") +
    text(left + 4, top, names[1])
  );
}

function endText(end: number | string): string {
  return typeof end === "number" ? label(end) : shortened(end, 40);
}

function rangeOf(values: readonly number[]): readonly [number, number] {
  return values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
}

/** The range without outliers (three interquartile ranges beyond the quartiles), which are drawn at its end. */
function usualRange(values: readonly number[]): readonly [number, number] {
  const sorted = Float64Array.from(values).sort();
  const [low, high] = rangeOf(values);
  if (sorted.length < 5) return [low, high];
  const [first, third] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const reach = 3 * (third - first);
  return reach === 0 ? [low, high] : [Math.max(low, first - reach), Math.min(high, third + reach)];
}

const area = { x: [margin, width - 10], y: [height - 30, 12] } as const;

function bestSoFar({ definition }: Study, trials: readonly Trial[]): Markup {
  const [objective] = definition.objectives as readonly [Objective];
  const scored = trials.flatMap((trial) => {
    const value = lastValue(trial);
    return value === undefined ? [] : [{ trial, value }];
  });
  const [xs, ys] = [rangeOf(scored.map(({ trial }) => trial.number)), usualRange(scored.map(({ value }) => value))];
  const [x, y] = [scaleOf(xs, area.x), scaleOf(ys, area.y)];
  const better = objective.direction === "maximize" ? Math.max : Math.min;
  let best: number | undefined;
  const steps = scored.flatMap(({ trial, value }): readonly Place[] => {
    const before = best;
    best = best === undefined ? value : better(best, value);
    return before === undefined || before === best
      ? [[x(trial.number), y(best)]]
      : [
          [x(trial.number), y(before)],
          [x(trial.number), y(best)],
        ];
  });
  const dots = scored.map(({ trial, value }) =>
    dot([x(trial.number), y(value)], `trial ${trial.number}: ${label(value)}`, trial.state === "completed" ? 1 : 0.4),
  );
  return frame(
    "best value so far",
    axes(xs, ys, ["trial", objective.metric]) + line(steps, 1, "best so far") + dots.join(""),
  );
}

/** Draws the learning curve of each trial. A dot marks the rung where it stopped. */
function learningCurves({ definition }: Study, trials: readonly Trial[]): Markup {
  const curves = trials.filter(({ reports }) => reports.length > 0);
  const xs = [1, Math.max(2, definition.job.hyperparameters.epochs)] as const;
  const ys = usualRange(curves.flatMap(({ reports }) => reports.map(({ value }) => value)));
  const [x, y] = [scaleOf(xs, area.x), scaleOf(ys, area.y)];
  const drawn = curves.map(({ number: trial, state, reports }) => {
    const places = reports.map(({ epoch, value }): Place => [x(epoch), y(value)]);
    const hint = `trial ${trial}, ${state} at epoch ${reports.at(-1)?.epoch}`;
    const end = state === "completed" ? "" : dot(places.at(-1) as Place, hint);
    return line(places, state === "completed" ? 1 : 0.45, hint) + end;
  });
  return frame("learning curves", axes(xs, ys, ["epoch", definition.objectives[0]?.metric ?? ""]) + drawn.join(""));
}

/** Draws each trial as a line over all parameters and its value; better trials are darker. */
function parallelCoordinates({ definition }: Study, trials: readonly Trial[]): Markup {
  const [objective] = definition.objectives as readonly [Objective];
  const names = Object.keys(definition.space);
  const scored = trials.flatMap((trial) => {
    const [loss] = lossesOf(trial, [objective]) ?? [];
    return loss === undefined ? [] : [{ trial, loss }];
  });
  const [bottom, top] = [height - 40, 16];
  const place = scaleOf([0, names.length], [margin, width - margin]);
  const losses = usualRange(scored.map(({ loss }) => loss));
  const shade = scaleOf([losses[0], losses[1]], [1, 0.12]);
  const lines = scored.map(({ trial, loss }) => {
    const places = names.map((name, at): Place => {
      const share = shareOf(definition.space[name] as Parameter, trial.params[name]);
      return [place(at), share === undefined ? bottom + 12 : bottom + share * (top - bottom)];
    });
    const end: Place = [place(names.length), scaleOf(losses, [top, bottom])(loss)];
    return line([...places, end], Number(shade(loss).toFixed(2)), `trial ${trial.number}`);
  });
  const columns = [...names, objective.metric].map((name, at) => {
    const anchor = at === 0 ? "start" : at === names.length ? "end" : "middle";
    return (
      line(
        [
          [place(at), top],
          [place(at), bottom],
        ],
        0.4,
        name,
      ) + text(place(at), height - 8, name.split(".").at(-1) ?? name, anchor)
    );
  });
  return frame("parallel coordinates", columns.join("") + lines.join(""));
}

function slicePlot({ definition }: Study, trials: readonly Trial[], name: string): Markup {
  const [objective] = definition.objectives as readonly [Objective];
  const parameter = definition.space[name] as Parameter;
  const scored = trials.flatMap((trial) => {
    const [value, share] = [lastValue(trial), shareOf(parameter, trial.params[name])];
    return value === undefined || share === undefined ? [] : [{ trial, value, share }];
  });
  const ys = usualRange(scored.map(({ value }) => value));
  const [x, y] = [scaleOf([0, 1], area.x), scaleOf(ys, area.y)];
  const ends =
    parameter.type === "categorical"
      ? ([JSON.stringify(parameter.choices[0]), JSON.stringify(parameter.choices.at(-1))] as const)
      : ([parameter.low, parameter.high] as const);
  const dots = scored.map(({ trial, value, share }) =>
    dot([x(share), y(value)], `trial ${trial.number}: ${JSON.stringify(trial.params[name])}, ${label(value)}`, 0.7),
  );
  return frame(`slice over ${name}`, axes(ends, ys, [name, objective.metric]) + dots.join(""));
}

function importanceBars(importance: Readonly<Record<string, number>>): Markup {
  const sorted = Object.entries(importance).sort(([, a], [, b]) => b - a);
  const rows = sorted.map(([name, share], at) => {
    const y = at * 22 + 4;
    const bar = `<rect x="260" y="${y}" width="${number(Math.max(0, share) * 300)}" height="14" fill-opacity="0.6"/>`;
    return text(252, y + 11, name, "end") + bar + text(268 + share * 300, y + 11, `${Math.round(100 * share)} %`);
  });
  return frame("importance of parameters", rows.join(""), sorted.length * 22 + 8);
}

function lastValue({ values, reports, state }: Trial): number | undefined {
  return state === "failed" ? undefined : (values?.[0] ?? reports.at(-1)?.value);
}

/** Returns the place of a value within its range, from 0 to 1; `undefined` if the parameter was not active. */
function shareOf(parameter: Parameter, value: Json | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (parameter.type === "categorical") {
    return parameter.choices.length < 2
      ? 0.5
      : indexOfChoice(parameter.choices, value) / (parameter.choices.length - 1);
  }
  const [low, high] = internalBounds(parameter);
  return high === low ? 0.5 : (toInternal(parameter, value as number) - low) / (high - low);
}

const maxSlices = 12;

/** Renders the report of a study. `now` is in milliseconds since the epoch. */
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
