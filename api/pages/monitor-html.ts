import type { Page } from "../../core/html/document";
import { numberText } from "../../core/html/drift-html";
import { link, pageOf } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { listing, pairs, shortened } from "../../core/html/tables";
import { type Monitor, type MonitorWindow, targetText } from "../../core/monitors/shapes";
import { timeText } from "../../core/quantities";
import type { Links } from "./links";

const time = (text: string): string => timeText(Date.parse(text));

export function monitorHtml(
  { name, target, thresholds, createdBy, createdAt, deletedAt, lastFailure }: Monitor,
  windows: readonly MonitorWindow[],
  links: Links,
  now: number,
): Page {
  const { severity } = windows[0] ?? {};
  const body = html`<div class="head"><h1>${name}</h1><span class="badge ${severity === undefined ? "completed" : "failed"}">${severity ?? "no drift"}</span></div>
<p class="facts"><span>by <b>${shortened(createdBy, 250)}</b></span><span>created <b>${time(createdAt)}</b> UTC</span>${deletedAt && html`<span>deleted <b>${time(deletedAt)}</b> UTC</span>`}</p>
${pairs("Monitor", [
  ["watches", targetText(target)],
  ["windows", target.type === "model" ? windowText(target) : "each new version"],
  ["drift", `adjusted p below ${thresholds.level} and a distance of at least ${thresholds.distance}`],
  ["critical", `stability index (PSI) above ${thresholds.psi}`],
  ["cannot measure", lastFailure && `${lastFailure.code} at ${time(lastFailure.at)} UTC: ${lastFailure.message}`],
])}
${listing(
  "Windows",
  ["window", "end (UTC)", "version", "rows", "drift", "AUC", "columns with drift"],
  windows.map((one) => windowRow(one, links)),
)}`;
  return pageOf({ title: `${name} – monitor`, crumbs: [], body, at: new Date(now).toISOString() });
}

function windowText({ everyRows, schedule, minRows, samplingRate }: Extract<Monitor["target"], { type: "model" }>) {
  const ends = [
    ...(everyRows !== undefined || !schedule ? [`every ${everyRows ?? "5000"} rows`] : []),
    ...(schedule ? [`${schedule.expression} in ${schedule.timeZone}, at least ${minRows} rows`] : []),
  ];
  return `${ends.join("; ")}; ${numberText(100 * samplingRate)} % of the units`;
}

function windowRow(
  { monitor, window, end, version, rows, severity, auc, drifted }: MonitorWindow,
  links: Links,
): Markup {
  const href = links.monitorWindow(monitor, window);
  return html`<tr><td>${link(href, String(window))}</td><td>${time(end)}</td><td class="number">${version}</td><td class="number">${rows}</td><td>${severity ?? "–"}</td><td class="number">${auc === undefined ? "–" : numberText(auc)}</td><td>${shortened(drifted.join(", "), 300)}</td></tr>`;
}
