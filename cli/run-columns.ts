import type { Answer } from "../client/operations";
import { InvalidInputError } from "../core/errors";
import { byRank } from "../core/evaluation/metric-goal";
import { metricNameSets, paramNameSets } from "../core/tracking/search/row";
import { formatNumber } from "./output";

type SearchedRun = Answer<"searchRuns">["runs"][number];

const metricNames = metricNameSets();
const paramNames = paramNameSets();
const columnText = /^(metrics|params|tags)\.(.+)$/s;
const most = 4;

export function checkColumns(columns: readonly string[]): void {
  const wrong = columns.filter((column) => !columnText.test(column));
  if (wrong.length === 0) return;
  const rule = "must be metrics.NAME, params.NAME or tags.NAME";
  throw new InvalidInputError(
    "the columns cannot be shown",
    wrong.map((value) => ({ path: "--column", value, rule })),
  );
}

/** Returns the default columns of a search: the fields of its order, then metrics of its runs. */
export function usualColumns(runs: readonly SearchedRun[], order: readonly string[]): readonly string[] {
  const ordered = order
    .flatMap((terms) => terms.split(","))
    .map((term) => term.trim().replace(/\s+(?:asc|desc)$/i, ""))
    .filter((term) => columnText.test(term));
  const metrics = [...new Set(runs.flatMap((run) => run.metrics.map(({ metric }) => metric)))];
  // Fields of the order are not shown twice, even under another name.
  const meant = ordered.map((column) => metricNames.of(metrics).resolve(column.replace(/^metrics\./, ""), false).name);
  const names = metrics
    .filter((metric) => !metric.startsWith("system/") && !meant.includes(metric))
    .sort(byRank(runs.map(({ run }) => run)));
  return [...new Set([...ordered, ...names.map((metric) => `metrics.${metric}`)])].slice(0, most);
}

/** Returns a cell by the rules of a filter: `val_loss` also means `validation/loss`, except in backticks. */
export function cellOf({ run, metrics }: SearchedRun, column: string): string {
  const [, kind, written = ""] = columnText.exec(column) ?? [];
  const exact = /^`.*`$/s.test(written);
  const name = exact ? written.slice(1, -1).replaceAll("``", "`") : written;
  if (kind === "tags") return run.tags[name] ?? "–";
  if (kind === "params") {
    const param = paramNames.of(Object.keys(run.params)).resolve(name, exact).name;
    return param === undefined ? "–" : run.params[param]!;
  }
  return metricCell(metrics, name, exact) ?? "–";
}

/** Returns the last value of a metric, by its name or an abbreviation; `undefined` if the run has none. */
export function metricCell(metrics: SearchedRun["metrics"], name: string, exact = false): string | undefined {
  const resolved = metricNames.of(metrics.map(({ metric }) => metric)).resolve(name, exact).name;
  const metric = metrics.find((one) => one.metric === resolved);
  return metric && formatNumber(Number(metric.last));
}
