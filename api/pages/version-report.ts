import { evaluationTables, shown } from "../../core/evaluation/evaluation-tables";
import { documentOf, type Page } from "../../core/html/document";
import { escapeHtml, Markup } from "../../core/html/markup";
import type { GateCheck } from "../../core/registry/gates/verdict";
import { verdictWord } from "../../core/registry/gates/verdict";
import type { VersionReport } from "../report/shapes";
import { calibrationPlot, confusionPlot, latencyPlot, sliceBars } from "./report-plots";

const style = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #d9d9e0; --good: #218358; --bad: #ce2c31; --wait: #ab6400; --fill: #3e63dd; --back: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #edeef0; --soft: #b0b4ba; --line: #43484e; --good: #3dd68c; --bad: #ff9592; --wait: #ffca16; --fill: #9eb1ff; --back: #111113; } }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } h3 { font-size: 1rem; }
p.about, figcaption { color: var(--soft); } table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } .passed { color: var(--good); } .refused, .failed { color: var(--bad); } .waiting { color: var(--wait); }
pre { overflow: auto; padding: .8rem; border: 1px solid var(--line); font-size: 13px; } figure { margin: 1rem 0; overflow-x: auto; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; } .full text { fill: var(--back); }
.bar, .cell, .dot { fill: var(--fill); } .bar { fill-opacity: .55; } .late { fill: var(--bad); } .interval { stroke: var(--ink); stroke-width: 1.5; } .limit { stroke: var(--bad); stroke-dasharray: 4 3; } .axis { stroke: var(--soft); } .grid { stroke: var(--line); }
`;

/** Renders the report as one self-contained page without a script. */
export function reportHtml(report: VersionReport): Page {
  const title = `${report.model} version ${report.version}`;
  const word = verdictWord(report);
  const { dataset, runId, gate } = report;
  const about = [
    `stage ${report.stage}`,
    runId === undefined ? undefined : `run ${runId}`,
    dataset && `dataset ${dataset.name}${dataset.version === undefined ? "" : `@${dataset.version}`}`,
    gate?.champion === undefined ? undefined : `compared with version ${gate.champion}`,
    gate && `evaluated ${gate.at}`,
  ].filter((part) => part !== undefined);
  const body = `<h1>${escapeHtml(title)}: <span class="${word.split(" ")[0]}">${word}</span></h1>
<p class="about">${escapeHtml(about.join(" · "))}</p>
${gate ? gates(gate.checks) : ""}
${(gate?.checks ?? []).map(evidenceOf).join("\n")}
${approvals(report)}
${evaluation(report)}
${evaluationTables(report)
  .map(
    ({ title, note, head, rows, warning }) =>
      `<h3>${escapeHtml(title)}</h3>\n${paragraph("about", note)}${table(
        head,
        rows.map((row) => row.map(cell)),
      )}${paragraph("refused", warning && `Warning: ${warning}`)}`,
  )
  .join("\n")}
${latency(report)}
<h2>Metrics</h2>
${table(
  ["metric", "value"],
  Object.entries(report.metrics).map(([metric, value]) => [cell(metric), numeric(value)]),
)}`;
  return documentOf({ title, style, sandbox: "", body: new Markup(body) });
}

function gates(checks: readonly GateCheck[]): string {
  const rows = checks.map((check) => [
    check.passed
      ? '<td class="passed">✔</td>'
      : check.pending
        ? '<td class="waiting">…</td>'
        : '<td class="failed">✘</td>',
    cell(check.gate),
    cell(check.metric),
    numeric(check.value),
    numeric(check.limit),
    cell(check.evidence),
  ]);
  return `<h2>Gates</h2>\n${table(["", "gate", "metric", "value", "limit", "evidence"], rows)}`;
}

function evidenceOf(check: GateCheck): string {
  const { slices, external, gate, metric, limit } = check;
  if (slices) {
    const line = gate === "worst-slice" && limit !== null ? limit : undefined;
    const note = `${slices.judged} slices evaluated, ${slices.leftOut} left out; bars: simultaneous ${Math.round(slices.confidence * 100)} % intervals`;
    return `<h3>${escapeHtml(`${gate}: ${metric} by ${slices.column}`)}</h3>\n<figure>${sliceBars(slices, line)}<figcaption>${escapeHtml(note)}</figcaption></figure>`;
  }
  const { output, command } = external?.answer ?? {};
  if (output === undefined) return "";
  return `<h3>${escapeHtml(`check ${metric}${command === undefined ? "" : `: ${command}`}`)}</h3>\n<pre>${escapeHtml(output)}</pre>`;
}

function approvals({ approvals: given, approvalsWithdrawn: withdrawn }: VersionReport): string {
  if (given.length === 0 && withdrawn === undefined) return "";
  const rows = given.map(({ by, decision, at, reason }) => [by, decision, at, reason].map(cell));
  const note = withdrawn === undefined ? "" : `\n<p class="refused">${escapeHtml(withdrawn)}</p>`;
  return `<h2>Approvals</h2>\n${rows.length === 0 ? "" : table(["by", "decision", "time", "reason"], rows)}${note}`;
}

function evaluation({ evaluation: found }: VersionReport): string {
  if (!found) return "";
  const { confusionMatrix, classes, calibration, rows, label } = found;
  const parts = [
    `<h2>Evaluation</h2>\n<p class="about">${rows} rows of the test split; label ${escapeHtml(label)}</p>`,
  ];
  if (confusionMatrix && classes) {
    const names = classes.map(({ value }) => String(value));
    parts.push(
      `<figure>${confusionPlot(confusionMatrix, names)}<figcaption>shade: share of the true class</figcaption></figure>`,
    );
  }
  if (calibration) {
    const of = calibration.of === "positive" ? "the positive class" : "the predicted class";
    parts.push(
      `<figure>${calibrationPlot(calibration)}<figcaption>calibration of ${of}; expected calibration error ${shown(calibration.error)}</figcaption></figure>`,
    );
  }
  return parts.join("\n");
}

function latency({ latency: measured }: VersionReport): string {
  if (!measured) return "";
  const { predictions, p50Ms, p99Ms, machine } = measured;
  const note = `${predictions} predictions of one row on ${machine.cpu} (${machine.host}, ${machine.memoryMb} MB): p50 ${shown(p50Ms)} ms, p99 ${shown(p99Ms)} ms`;
  return `<h2>Latency</h2>\n<figure>${latencyPlot(measured)}<figcaption>${escapeHtml(note)}</figcaption></figure>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map((cells) => `<tr>${cells.join("")}</tr>`).join("\n");
  return `<table><thead><tr>${head.map((name) => `<th>${escapeHtml(name)}</th>`).join("")}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

function paragraph(kind: string, text: string | undefined): string {
  return text === undefined ? "" : `<p class="${kind}">${escapeHtml(text)}</p>\n`;
}

function cell(text: string): string {
  return `<td>${escapeHtml(text)}</td>`;
}

function numeric(value: number | null): string {
  return `<td class="number">${shown(value)}</td>`;
}
