import { type ContractOutcome, type ContractReport, describeViolation } from "../datasets/contract/report";
import type { Page } from "./document";
import { pageOf } from "./layout";
import { html, type Markup } from "./markup";
import { listing, pairs, shortened } from "./tables";

export function contractHtml(report: ContractReport, what: string, now: number): Page {
  const { status, revision, at, rows, outcomes } = report;
  const ordered = [...outcomes].sort((one, other) => rank(one) - rank(other) || one.index - other.index);
  const badge = status === "passed" ? "completed" : status === "warned" ? "queued" : "failed";
  const body = html`<div class="head"><h1>${what}</h1><span class="badge ${badge}">${status}</span></div>
${pairs("Checked", [
  ["contract", revision === undefined ? "a file" : `revision ${revision}`],
  ["rows", String(rows)],
  ["at", at],
])}
${contractTable("Rules", ordered, rows)}`;
  return pageOf({ title: `${what} – data contract`, crumbs: [], body, at: new Date(now).toISOString() });
}

export function contractTable(title: string, outcomes: readonly ContractOutcome[], rows?: number): Markup | undefined {
  return listing(
    title,
    ["rule", "severity", "result", "first rows"],
    outcomes.map(
      (one) =>
        html`<tr><td>${shortened(textOf(one, rows), 300)}</td><td>${one.severity}</td><td>${one.status}</td><td>${one.samples.map(sampleText)}</td></tr>`,
    ),
  );
}

const rank = ({ status, severity }: ContractOutcome): number =>
  status === "violated" ? (severity === "block" ? 0 : 1) : status === "skipped" ? 2 : 3;

function textOf(one: ContractOutcome, rows: number | undefined): string {
  if (one.status === "violated") return describeViolation({ ...one, samples: [] }, rows);
  const named = one.name === undefined ? "" : `${one.name}: `;
  const columns = one.columns.length > 0 && one.rule !== "expression" ? one.columns.join(", ") : "rows";
  return `${named}${columns} ${one.requirement}${one.problem === undefined ? "" : ` (${one.problem})`}`;
}

function sampleText({ row, values }: ContractOutcome["samples"][number]): Markup {
  const shown = Object.entries(values).map(([name, value]) => `${name} = ${value === null ? "missing" : value}`);
  return html`<div>${shortened(`row ${row}: ${shown.join(", ")}`, 200)}</div>`;
}
