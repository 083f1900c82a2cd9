import type { FeaturesOutput } from "../../core/features/materialize";
import { link } from "../../core/html/layout";
import { html, type Markup } from "../../core/html/markup";
import { shortened } from "../../core/html/tables";
import { sourceText } from "../../core/runs/fine-tune";
import { findOutput } from "../../core/runs/step";
import type { Links } from "./links";
import type { RunPage } from "./run-page";

/** Maximum number of boxes in a column. */
const maxOfAKind = 6;

/** Renders the origin of the run and its results, from left to right. */
export function lineageStrip(page: RunPage, links: Links): Markup | undefined {
  const { record, parent, childCount, versions, details } = page;
  const { code, datasets } = record;
  const features = details && findOutput<FeaturesOutput>(details, "PrepareFeatures");
  const from = details?.run.restoredFrom;
  const source = details?.run.fineTunedFrom;
  const again = details?.run.reproducedFrom;
  const before = [
    ...datasets.map(({ name, version, digest }) =>
      card("dataset", `${name}${version === undefined ? "" : `@${version}`}`, digest.slice(0, 12)),
    ),
    ...(code.commit === undefined && code.moduleSha256 === undefined
      ? []
      : [
          card(
            "code",
            (code.commit ?? code.moduleSha256 ?? "").slice(0, 12),
            code.dirty ? "uncommitted changes" : code.branch,
          ),
        ]),
    ...(from
      ? [card("checkpoint", link(links.run(from.runId), from.runId), `epoch ${from.epoch}, step ${from.step}`)]
      : []),
    ...(source ? [card("fine-tuned from", sourceText(source), source.weightsSha256.slice(0, 12))] : []),
    ...(again ? [card("reproduces", link(links.run(again), again))] : []),
    ...(record.parentRunId === undefined
      ? []
      : [card("parent run", link(links.run(record.parentRunId), parent?.name ?? record.parentRunId))]),
  ];
  const after = [
    ...versions.map(({ model, version, stage }) => card("model version", `${model}@${version}`, stage)),
    ...record.modelOutputs.map(({ modelId }) => card("logged model", modelId)),
    ...(childCount === 0 ? [] : [card("child runs", String(childCount))]),
  ];
  if (before.length === 0 && after.length === 0) return undefined;
  const columns = [
    column(before),
    features &&
      html`<ul>${card("features", features.digest.slice(0, 12), `${features.width} ${features.width === 1 ? "feature" : "features"}`)}</ul>`,
    html`<ul><li class="here"><small class="faint">run</small>${shortened(record.name, 80)}${record.weightsSha256 === undefined ? undefined : html`<small class="faint">weights ${record.weightsSha256.slice(0, 12)}</small>`}</li></ul>`,
    column(after),
  ].filter((one) => one !== undefined);
  return html`<section><h2>Lineage</h2><div class="flow">${columns.map(
    (one, index) => html`${index === 0 ? undefined : html`<span class="arrow" aria-hidden="true">→</span>`}${one}`,
  )}</div></section>`;
}

function column(cards: readonly Markup[]): Markup | undefined {
  if (cards.length === 0) return undefined;
  const more = cards.length - maxOfAKind;
  return html`<ul>${cards.slice(0, maxOfAKind)}${more > 0 ? html`<li class="faint">and ${more} more</li>` : undefined}</ul>`;
}

function card(kind: string, name: Markup | string, detail?: string): Markup {
  const words = typeof name === "string" ? shortened(name, 80) : name;
  return html`<li><small class="faint">${kind}</small>${words}${detail === undefined ? undefined : html`<small class="faint">${shortened(detail, 80)}</small>`}</li>`;
}
