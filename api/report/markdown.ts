import { evaluationTables, shown } from "../../core/evaluation/evaluation-tables";
import type { SliceEvidence } from "../../core/evaluation/shapes";
import { verdictWord } from "../../core/registry/gates/verdict";
import type { VersionReport } from "./shapes";

export function reportMarkdown(report: VersionReport): string {
  const { gate, dataset, runId } = report;
  return `${[
    `# ${text(report.model)} version ${report.version}: ${verdictWord(report)}`,
    [
      `stage ${report.stage}`,
      runId === undefined ? undefined : `run ${text(runId)}`,
      dataset && `dataset ${text(dataset.name)}${dataset.version === undefined ? "" : `@${dataset.version}`}`,
      gate?.champion === undefined ? undefined : `compared with version ${gate.champion}`,
      gate && `evaluated ${gate.at}`,
    ]
      .filter((part) => part !== undefined)
      .join(" · "),
    ...(gate ? ["## Gates", gates(gate.checks)] : []),
    ...(gate?.checks ?? []).flatMap((check) =>
      check.slices
        ? [`### ${check.gate}: ${text(check.metric)} by ${text(check.slices.column)}`, slices(check.slices)]
        : [],
    ),
    ...outputs(report),
    ...(report.approvals.length > 0 || report.approvalsWithdrawn ? ["## Approvals"] : []),
    ...(report.approvals.length > 0 ? [approvals(report)] : []),
    ...(report.approvalsWithdrawn ? [text(report.approvalsWithdrawn)] : []),
    "## Metrics",
    table(
      ["metric", "value"],
      Object.entries(report.metrics).map(([metric, value]) => [metric, shown(value)]),
    ),
    ...evaluationTables(report).flatMap(({ title, note, head, rows, warning }) => [
      `## ${text(title)}`,
      ...(note === undefined ? [] : [text(`${note}.`)]),
      table(head, rows),
      ...(warning === undefined ? [] : [`**Warning:** ${text(warning)}.`]),
    ]),
    ...confusion(report),
    ...latency(report),
  ].join("\n\n")}\n`;
}

function gates(checks: NonNullable<VersionReport["gate"]>["checks"]): string {
  return table(
    ["", "gate", "metric", "value", "limit", "evidence"],
    checks.map((check) => [
      check.passed ? "✔" : check.pending ? "…" : "✘",
      check.gate,
      check.metric,
      shown(check.value),
      shown(check.limit),
      check.evidence,
    ]),
  );
}

function slices({ slices: rows, judged, leftOut, minimumRows }: SliceEvidence): string {
  const note =
    leftOut === 0 ? "" : `\n\nLeft out for too few rows (${minimumRows}): ${leftOut} of ${judged + leftOut}.`;
  const lines = rows.map(({ value, rows: count, estimate, lower, upper }) => [
    String(value),
    String(count),
    shown(estimate),
    `${shown(lower)} – ${shown(upper)}`,
  ]);
  return table(["slice", "rows", "value", "interval"], lines) + note;
}

function outputs({ gate }: VersionReport): readonly string[] {
  return (gate?.checks ?? []).flatMap(({ metric, external }) => {
    const { output, command } = external?.answer ?? {};
    if (output === undefined) return [];
    const fence = "`".repeat(Math.max(3, ...[...output.matchAll(/`+/g)].map(([run]) => run.length + 1)));
    return [
      `### check ${text(metric)}${command === undefined ? "" : `: ${text(command)}`}`,
      `${fence}\n${output}\n${fence}`,
    ];
  });
}

function approvals(report: VersionReport): string {
  return table(
    ["by", "decision", "time", "reason"],
    report.approvals.map(({ by, decision, at, reason }) => [by, decision, at, reason]),
  );
}

function confusion({ evaluation }: VersionReport): readonly string[] {
  if (!evaluation?.confusionMatrix || !evaluation.classes || evaluation.classes.length > 20) return [];
  const names = evaluation.classes.map(({ value }) => String(value));
  const rows = evaluation.confusionMatrix.map((counts, at) => [names[at]!, ...counts.map(String)]);
  return ["## Confusion matrix", "Rows are true classes, columns predicted ones.", table(["", ...names], rows)];
}

function latency({ latency: measured }: VersionReport): readonly string[] {
  if (!measured) return [];
  const { predictions, p50Ms, p90Ms, p99Ms, maxMs, machine } = measured;
  return [
    "## Latency",
    `${predictions} predictions of one row on ${text(machine.cpu)} (${machine.host}, ${machine.memoryMb} MB): p50 ${shown(p50Ms)} ms, p90 ${shown(p90Ms)}, p99 ${shown(p99Ms)}, longest ${shown(maxMs)}.`,
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(text).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** Escapes names and sentences that come from people. */
function text(value: string): string {
  return value.replaceAll(/[\\`*_[\]<>|#]/g, (mark) => `\\${mark}`).replaceAll(/\s+/g, " ");
}
