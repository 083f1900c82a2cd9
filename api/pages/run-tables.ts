import { byRank } from "../../core/evaluation/metric-goal";
import { link } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { listing, shortened } from "../../core/html/tables";
import { formatBytes, formatDuration, formatMetric, numberText, timeText } from "../../core/quantities";
import { displayedStatus } from "../../core/runs/run";
import type { SearchedRun } from "../../core/tracking/search/query";
import type { RunRecord } from "../../core/tracking/shapes";
import { metricsOf } from "../compare/pivot";
import type { Links } from "./links";
import type { RunPage } from "./run-page";

export function metricTable({ metrics, record }: Pick<RunPage, "metrics" | "record">): Markup | undefined {
  const rank = byRank([record]);
  const rows = [...metrics]
    .sort((a, b) => rank(a.metric, b.metric))
    .map(
      ({ metric, last, min, max, lastStep }) =>
        html`<tr><th>${metric}</th>${[last, min, max].map((value) => html`<td class="number">${formatMetric(metric, value, numberText)}</td>`)}<td class="number">${lastStep}</td></tr>
`,
    );
  return listing("Metrics", ["metric", "last", "min", "max", "step"], rows);
}

export function datasetTable({ datasets }: RunRecord): Markup | undefined {
  const rows = datasets.map(({ name, version, digest, source, sourceType, tags }) => {
    const of = version === undefined ? sourceOf(sourceType, source) : "registered dataset";
    return html`<tr><td class="name">${shortened(name, 250)}${version === undefined ? undefined : `@${version}`}</td><td><code class="whole">${digest}</code></td><td>${tags["mlflow.data.context"] ?? "–"}</td><td class="long">${of}</td></tr>
`;
  });
  return listing("Datasets", ["dataset", "digest", "context", "source"], rows);
}

/** If a client gives a URL, only the URL is shown, without the tool's own notation. */
function sourceOf(type: string, source: string): string {
  const address = /"(?:uri|url|path)"\s*:\s*"([^"]*)"/.exec(source)?.[1];
  return shortened([type, address ?? (source === "{}" ? "" : source)].filter(Boolean).join(": ") || "–", 300);
}

export function attemptTable({ details }: RunPage): Markup | undefined {
  const rows = (details?.attempts ?? []).map(
    ({ attempt, evaluation, market, workers, status, reason, usage }) =>
      html`<tr><td class="tight">${attempt}${evaluation === undefined ? "" : " (evaluation)"}</td><td class="tight">${market}</td><td class="tight">${workers}</td><td>${usage?.instanceTypes.join(", ") || "–"}</td><td>${usage ? formatDuration(usage.workerSeconds * 1_000) : "–"}</td><td>${usage?.estimatedUsd === undefined ? "–" : `$${usage.estimatedUsd.toFixed(4)}`}</td><td><span class="badge ${status === "succeeded" ? "completed" : status === "failed" ? "failed" : "running"}">${status}</span></td><td class="long">${shortened(reason ?? "", 500)}</td></tr>
`,
  );
  const head = ["attempt", "market", "workers", "instances", "worker time", "est. cost", "status", "reason"];
  return listing("Attempts", head, rows);
}

export function childTable({ children, childCount }: RunPage, links: Links): Markup | undefined {
  const metrics = metricsOf(children).filter((metric) => !metric.startsWith("system/"));
  const columns = [...metrics].sort(byRank(children.map((child) => child.record))).slice(0, 4);
  const rows = [...children].sort(byStart).map(({ record, metrics: own }) => {
    const cells = columns.map((column) => {
      const found = own.find(({ metric }) => metric === column);
      return html`<td class="number">${found === undefined ? "–" : numberText(found.last)}</td>`;
    });
    return html`<tr><td class="name">${link(links.run(record.runId), shortened(record.name, 100))}</td><td class="tight"><span class="badge ${record.status}">${displayedStatus(record)}</span></td><td class="number">${timeText(record.startedAt)}</td>${cells}</tr>
`;
  });
  const more =
    childCount > children.length ? html` <small>the first ${children.length} of ${childCount}</small>` : undefined;
  return listing(html`Children${more}`, ["run", "status", "started (UTC)", ...columns], rows);
}

function byStart({ record: a }: SearchedRun, { record: b }: SearchedRun): number {
  return a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1);
}

export function fileTable({ record, files, moreFiles, images }: RunPage, links: Links): Markup | undefined {
  const rows = files.map(
    ({ path, bytes = 0, sha256 = "" }) =>
      html`<tr><td class="long">${link(links.artifact(record.runId, path), path)}</td><td class="number">${formatBytes(bytes)}</td><td><code>${sha256.slice(0, 12)}</code></td></tr>
`,
  );
  const table = listing("Artifacts", ["path", "size", "SHA-256"], rows);
  return (
    table &&
    html`${table}${moreFiles ? html`<p class="faint">More files: <code>ringmaster runs artifacts list ${record.runId}</code></p>` : undefined}
${images.length === 0 ? undefined : html`<div class="images">${images.map(({ path, dataUrl }) => html`<figure><figcaption>${path}</figcaption><img src="${dataUrl}" alt="${path}" loading="lazy"></figure>`)}</div>`}`
  );
}
