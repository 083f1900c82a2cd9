import { leadingMetrics } from "./metrics";
import type { EvaluationReport } from "./report";
import type { ImportanceReport } from "./shapes";

/** A table of an evaluation, as terminals, pages and Markdown show it. */
export interface EvaluationTable {
  readonly title: string;
  readonly note?: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly warning?: string;
}

const maxSlices = 40;
const maxMetrics = 4;

/** Returns a table for each slice column: the metrics that suit the task, of all rows and of each slice, in order of value. */
export function sliceTables({
  slices,
  metrics,
  task,
}: Pick<EvaluationReport, "slices" | "metrics" | "task">): readonly EvaluationTable[] {
  const names = leadingMetrics(task, metrics).slice(0, maxMetrics);
  const rowOf = (name: string, count: number, values: EvaluationReport["metrics"]) => [
    ...[name, String(count)],
    ...names.map((metric) => shown(values[metric] ?? null)),
  ];
  return [...new Set(slices.map(({ column }) => column))].map((column) => {
    const members = slices.filter((slice) => slice.column === column);
    const total = members.reduce((sum, { rows }) => sum + rows, 0);
    const left = members.length - maxSlices;
    return {
      title: `Slices by ${column}`,
      ...(left > 0 ? { note: `${left} more slices are in the JSON` } : {}),
      head: [column, "rows", ...names],
      rows: [
        rowOf("all", total, metrics),
        ...members.slice(0, maxSlices).map(({ value, rows, metrics: values }) => rowOf(String(value), rows, values)),
      ],
    };
  });
}

/** Returns the table of the columns' importance. Warns of columns whose noise exceeds their value. */
export function importanceTable(report: ImportanceReport): EvaluationTable {
  const { metric, rows, repeats, columns, omitted } = report;
  const noisy = columns.filter(isNoisy).map(({ columns: names }) => names.join(" + "));
  const some = noisy.slice(0, 5).join(", ") + (noisy.length > 5 ? ` and ${noisy.length - 5} more` : "");
  return {
    title: "Importance of columns",
    note:
      `loss of ${metric} when a column is permuted: mean ± standard deviation of ${repeats} permutations of ${rows} test rows` +
      `${omitted === undefined ? "" : `; ${omitted} further columns were not measured`}`,
    head: ["column", `loss of ${metric}`],
    rows: columns.map((column) => [column.columns.join(", "), importanceText(column)]),
    ...(noisy.length === 0
      ? {}
      : { warning: `the deviation exceeds the mean of ${some}: ${rows} test rows do not show their importance` }),
  };
}

/** Formats an importance: `0.0412 ± 0.0103`, with `(noise)` where the deviation exceeds the mean. */
export function importanceText(of: Pick<ImportanceReport["columns"][number], "mean" | "deviation">): string {
  const short = (value: number) => shown(Number(value.toPrecision(3)));
  return `${short(of.mean)} ± ${short(of.deviation)}${isNoisy(of) ? " (noise)" : ""}`;
}

function isNoisy({ mean, deviation }: Parameters<typeof importanceText>[0]): boolean {
  return deviation > mean;
}

export function shown(value: number | null): string {
  return value === null ? "–" : Number.isFinite(value) ? String(Number(value.toPrecision(5))) : String(value);
}

interface EvaluatedVersion {
  readonly metrics: EvaluationReport["metrics"];
  readonly evaluation?: Pick<EvaluationReport, "slices" | "task" | "importance">;
}

/** Returns the tables of a version's evaluation that do not belong to a gate. */
export function evaluationTables({ evaluation, metrics }: EvaluatedVersion): readonly EvaluationTable[] {
  if (!evaluation) return [];
  const { importance } = evaluation;
  return [...sliceTables({ ...evaluation, metrics }), ...(importance ? [importanceTable(importance)] : [])];
}
