import { deltaText, metricText, timeText } from "../../core/quantities";
import type { Comparison, MetricCell, Row } from "./comparison";

/** Formats a comparison as GitHub's Markdown. Names are escaped, so that none can break a table or become a link. */
export function comparisonMarkdown(comparison: Comparison): string {
  const { runs, baseline, rankedBy, params, metrics, differences } = comparison;
  const titles = runs.map(
    ({ runId, name }) =>
      `${name === runId ? "" : `${text(name)} `}${code(runId)}${runId === baseline ? " (baseline)" : ""}`,
  );
  const of = rankedBy ? `, by ${code(rankedBy.metric)} (${rankedBy.goal === "min" ? "lowest" : "highest"} first)` : "";
  const cells = (values: readonly (string | null)[]): readonly string[] =>
    values.map((value) => (value === null ? "–" : text(value)));
  const fields = (rows: readonly Row[]): readonly (readonly string[])[] =>
    rows.map(({ name, values }) => [code(name), ...cells(values)]);
  return [
    `# Comparison of ${runs.length} run${runs.length === 1 ? "" : "s"}${of}`,
    table(
      ["", ...titles],
      [
        ["status", ...runs.map((run) => text(run.status))],
        ["started (UTC)", ...runs.map(({ startedAt }) => timeText(startedAt))],
        ["by", ...runs.map(({ createdBy }) => text(createdBy))],
        ...(runs.some(({ reusedFrom }) => reusedFrom !== undefined)
          ? [
              [
                "training reused from",
                ...runs.map(({ reusedFrom }) => (reusedFrom === undefined ? "–" : code(reusedFrom))),
              ],
            ]
          : []),
      ],
    ),
    section(
      "Metrics",
      titles,
      metrics.map((row) => [
        `${code(row.metric)}${row.goal === undefined ? "" : row.goal === "min" ? " ↓" : " ↑"}`,
        ...row.values.map((cell, at) => cellText(row.metric, cell, row.best.includes(runs[at]!.runId))),
      ]),
    ),
    section("Params that differ", titles, fields(params.differing)),
    params.common.length === 0
      ? ""
      : `## Params in common\n\n${table(
          ["", "value"],
          params.common.map(({ name, value }) => [code(name), text(value)]),
        )}`,
    section("Code", titles, fields(differences.code)),
    section("Data", titles, fields(differences.data)),
    section("Environment", titles, fields(differences.environment)),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function section(title: string, runs: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `## ${title}\n\n${table(["", ...runs], rows)}`;
}

function cellText(metric: string, cell: MetricCell | null, best: boolean): string {
  if (cell === null) return "–";
  const value = best ? `**${metricText(metric, cell.last)}**` : metricText(metric, cell.last);
  return cell.delta === undefined ? value : `${value} ${deltaText(metric, cell.delta, cell.relativeDelta)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function text(value: string): string {
  return value
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_{}[\]<>()#+!|~&:@]/g, (sign) => `\\${sign}`)
    .replaceAll("\\<", "&lt;")
    .replaceAll("\\&", "&amp;");
}

/** Quotes a value with enough backticks. A bar would end the cell even there, so it is replaced. */
function code(value: string): string {
  const plain = value.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${plain}${fence}` : `${fence} ${plain} ${fence}`;
}
