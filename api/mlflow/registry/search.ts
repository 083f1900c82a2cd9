import type { Platform } from "../../../adapters/platform";
import { mapLimited } from "../../../core/each-limited";
import type { Model } from "../../../core/registry/model";
import { invalidValue } from "../errors";
import { integer, list, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import {
  modelNamedIn,
  parseModelFilter,
  parseModelOrder,
  parseModelVersionFilter,
  parseModelVersionOrder,
} from "../search/registered-models";
import { pageOf } from "../tracking/paging";
import { versionsOf } from "./reads";
import { latestOfStages, modelView, undefinedIfEmpty, versionView } from "./view";

const maxModels = 1_000;
const maxVersions = 200_000;
/** Number of models whose versions are read in parallel. */
const readsInParallel = 8;

const query = { filter: text, max_results: integer, order_by: list(text), page_token: text };

export const searchOperations: readonly MlflowOperation[] = [
  operation("GET /mlflow/registered-models/search", query, async ({ platform, fields }) => {
    const { filter = "", max_results: limit = 100, order_by, page_token } = fields;
    checkLimit(limit, maxModels);
    const matches = parseModelFilter(filter);
    const order = parseModelOrder(order_by);
    const found = (await platform.registry.list()).filter(matches).sort(order);
    const { items, nextToken } = pageOf(found, limit, page_token);
    const views = await mapLimited(items, readsInParallel, async (model) =>
      modelView(model, latestOfStages(await versionsOf(platform, model))),
    );
    return { registered_models: undefinedIfEmpty(views), next_page_token: nextToken };
  }),

  operation("GET /mlflow/model-versions/search", query, async ({ platform, fields }) => {
    const { filter = "", max_results: limit = 10_000, order_by, page_token } = fields;
    checkLimit(limit, maxVersions);
    const matches = parseModelVersionFilter(filter);
    const order = parseModelVersionOrder(order_by);
    const models = await modelsFor(platform, filter);
    const versions = (await mapLimited(models, readsInParallel, (model) => versionsOf(platform, model))).flat();
    const found = versions.filter(matches).sort(order);
    const { items, nextToken } = pageOf(found, limit, page_token);
    const views = items.map((version) => versionView(version, {}));
    return { model_versions: undefinedIfEmpty(views), next_page_token: nextToken };
  }),
];

/** Lists the models whose versions may match a filter: only one if the filter names it. */
async function modelsFor({ registry }: Platform, filter: string): Promise<readonly Model[]> {
  const name = modelNamedIn(filter);
  if (name === undefined) return registry.list();
  const model = await registry.repository.find(name);
  return model?.lifecycle === "active" ? [model] : [];
}

function checkLimit(limit: number, max: number): void {
  if (limit >= 1 && limit <= max) return;
  throw invalidValue("max_results", limit, `must be from 1 to ${max}`);
}
