import { goalOf } from "../../core/evaluation/metric-goal";
import { html, type Markup } from "../../core/html/markup";
import type { Curve } from "../compare/comparison";
import { curvePlot } from "./comparison/curve-plot";

/** Matches the data split at the start of a metric's name. Such metrics share a plot. */
const splitName = /^(train|training|val|valid|validation|test|eval)[/_.-](?=.)(.+)$/i;
const splits: Readonly<Record<string, string>> = {
  train: "train",
  training: "train",
  val: "validation",
  valid: "validation",
  validation: "validation",
  test: "test",
  eval: "evaluation",
};
const order = ["train", "validation", "test", "evaluation"];
/** Metrics without a split and without a machine. */
const rest = "other";

export interface Family {
  readonly title: string;
  readonly lines: readonly { readonly name: string; readonly curve: Curve }[];
}

/** Groups curves into plots: `train/loss` and `validation/loss` are lines of one, and so are machines' metrics. */
export function familiesOf(curves: readonly Curve[]): readonly Family[] {
  const families = new Map<string, { readonly name: string; readonly curve: Curve }[]>();
  for (const curve of curves) {
    const { name, leaf } = lineOf(curve.metric);
    const family = families.get(leaf);
    if (family === undefined) families.set(leaf, [{ name, curve }]);
    else if (family.some((line) => line.name === name)) families.set(curve.metric, [{ name, curve }]);
    else family.push({ name, curve });
  }
  return [...families]
    .map(([title, lines]) => ({ title: lines.length === 1 ? lines[0]!.curve.metric : title, lines }))
    .sort((a, b) => rank(a.title) - rank(b.title));
}

function lineOf(metric: string): { readonly name: string; readonly leaf: string } {
  const [, machine, what] = /^system\/([^/]+)\/(.+)$/.exec(metric) ?? [];
  if (machine !== undefined && what !== undefined) return { name: machine, leaf: what };
  const [, prefix = "", leaf] = splitName.exec(metric) ?? [];
  return { name: splits[prefix.toLowerCase()] ?? rest, leaf: leaf ?? metric };
}

/** Ranks metrics of quality first. */
function rank(title: string): number {
  return goalOf(title) === undefined ? 1 : 0;
}

/** Renders a plot for each family: the run's own, and those of its machines in a closed section. */
export function curveSections(curves: readonly Curve[], reusedFrom?: string): Markup | undefined {
  const isOfMachine = ({ metric }: Curve): boolean => metric.startsWith("system/");
  const families = familiesOf(curves.filter((curve) => !isOfMachine(curve)));
  const machines = familiesOf(curves.filter(isOfMachine));
  const ownNames = [...order, rest].filter((name) => namesOf(families).has(name));
  const machineNames = [...namesOf(machines)].sort();
  return html`${families.length === 0 ? undefined : html`<section><h2>Curves${reusedFrom === undefined ? undefined : html` <small>reused from ${reusedFrom}</small>`}</h2>${plots(families, ownNames, 0)}</section>`}
${machines.length === 0 ? undefined : html`<section><details class="more"><summary><b>Machines</b> <small>${machines.map(({ title }) => title).join(", ")}</small></summary>${plots(machines, machineNames, ownNames.length)}</details></section>`}`;
}

function namesOf(families: readonly Family[]): ReadonlySet<string> {
  return new Set(families.flatMap(({ lines }) => lines.map(({ name }) => name)));
}

/** @param first number of the first name; the page numbers the names of all legends */
function plots(families: readonly Family[], names: readonly string[], first: number): Markup {
  const indexOf = (name: string): number => first + names.indexOf(name);
  const drawn = families.map(({ title, lines }) => {
    const series = lines.flatMap(({ name, curve }) => curve.series.map((one) => ({ ...one, runId: name })));
    return curvePlot({ metric: title, axis: "step", series }, indexOf);
  });
  return html`<div class="legend"${names.length < 2 ? html` hidden` : undefined}>${names.map(
    (name) =>
      html`<label data-name="${name}"><input type="checkbox" value="${indexOf(name)}" checked> <svg class="swatch c${indexOf(name) % 10}" viewBox="0 0 22 10"><path d="M0 5H22"/></svg> ${name}</label>
`,
  )}</div>
<div class="plots">${drawn}</div>`;
}
