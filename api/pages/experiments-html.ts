import type { Page } from "../../core/html/document";
import { link, pageOf } from "../../core/html/layout";
import { html } from "../../core/html/markup";
import { shortened } from "../../core/html/tables";
import { timeText } from "../../core/quantities";
import type { Experiment } from "../../core/tracking/shapes";
import type { Links } from "./links";

/** Renders the experiments of a team. */
export function experimentsHtml(
  { experiments, nextToken }: { readonly experiments: readonly Experiment[]; readonly nextToken?: string },
  links: Links,
  now: number,
): Page {
  const rows = experiments.map(
    ({ experimentId, name, tags, createdAt, createdBy }) =>
      html`<tr><td class="tight">${experimentId}</td><td class="name">${link(links.experiment(experimentId), shortened(name, 250))}</td><td class="number">${timeText(Date.parse(createdAt))}</td><td>${shortened(createdBy, 60)}</td><td class="long">${shortened(
        Object.entries(tags)
          .filter(([key]) => !key.startsWith("mlflow."))
          .map(([key, value]) => `${key}=${value}`)
          .join(" "),
        200,
      )}</td></tr>
`,
  );
  const body = html`<div class="head"><h1>Experiments</h1></div>
<p class="facts"><span>${link(links.documentation(), "API reference")}</span></p>
${rows.length === 0 ? html`<p class="faint">No experiments yet. Submitting a job creates one, and so does an MLflow client.</p>` : html`<div class="scroll bar"><table><thead><tr>${["id", "name", "created (UTC)", "by", "tags"].map((one) => html`<th>${one}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`}
${nextToken === undefined ? undefined : html`<p>${link(links.experiments(nextToken), "next page")}</p>`}`;
  return pageOf({ title: "Experiments", crumbs: [], body, at: new Date(now).toISOString() });
}
