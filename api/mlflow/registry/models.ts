import type { Platform } from "../../../adapters/platform";
import { mapLimited } from "../../../core/each-limited";
import { hasCode } from "../../../core/errors";
import type { Transition } from "../../../core/registry/change";
import { modelNameFixed } from "../../../core/registry/errors";
import { deleteAlias, deleteTag, describe, setAlias, setTag } from "../../../core/registry/labels";
import { deleteModel } from "../../../core/registry/lifecycle";
import type { Actor, Model } from "../../../core/registry/model";
import { doesNotExist, invalidParameter, invalidValue } from "../errors";
import { integer, keyValue, list, required, text } from "../fields";
import { type MlflowCall, type MlflowOperation, operation } from "../operation";
import {
  modelNamedIn,
  parseModelFilter,
  parseModelOrder,
  parseModelVersionFilter,
  parseModelVersionOrder,
} from "../search/registered-models";
import { undefinedIfEmpty } from "../tracking/messages";
import { pageOf } from "../tracking/ports";
import {
  actorOf,
  findModel,
  latestOfStages,
  modelMessage,
  stageName,
  stageOf,
  translateErrors,
  translateVersionErrors,
  versionAnswer,
  versionMessage,
  versionsOf,
} from "./messages";
import {
  checkAlias,
  checkAliasIsFree,
  checkDescription,
  checkModelName,
  checkTag,
  checkTagKey,
  tagsOf,
  versionNumber,
} from "./validation";

const path = "/mlflow/registered-models/alias";

export const aliasOperations: readonly MlflowOperation[] = [
  operation(
    `POST ${path}`,
    { name: required(text), alias: required(text), version: required(text) },
    async ({ platform, caller, fields: { name, alias, version } }) => {
      checkModelName(name);
      checkAlias(alias);
      checkAliasIsFree(alias);
      const number = versionNumber(version);
      const who = actorOf(platform, caller);
      await translateVersionErrors(name, version, () =>
        platform.registry.apply(name, [number], setAlias(alias, number, who)),
      );
      return undefined;
    },
  ),

  operation(
    `DELETE ${path}`,
    { name: required(text), alias: required(text) },
    async ({ platform, caller, fields: { name, alias } }) => {
      checkModelName(name);
      checkAlias(alias);
      try {
        await translateErrors(() => platform.registry.apply(name, [], deleteAlias(alias, actorOf(platform, caller))));
      } catch (error) {
        // Deleting a missing alias succeeds.
        if (!hasCode(error, "ALIAS_NOT_FOUND")) throw error;
      }
      return undefined;
    },
  ),

  operation(
    `GET ${path}`,
    { name: required(text), alias: required(text) },
    async ({ platform, fields: { name, alias } }) => {
      checkModelName(name);
      checkAlias(alias);
      const model = await findModel(platform, name);
      if (alias.toLowerCase() === "latest") {
        const [newest] = await versionsOf(platform, model);
        if (!newest) throw doesNotExist(`Latest version not found for model ${name}.`);
        return { model_version: versionMessage(newest, model.aliases) };
      }
      const named = Object.hasOwn(model.aliases, alias) ? model.aliases[alias] : undefined;
      if (named === undefined) throw invalidParameter(`Registered model alias ${alias} not found.`);
      return versionAnswer(platform, name, String(named));
    },
  ),
];

async function refuseTriggeredModel({ triggers }: Pick<Platform, "triggers">, model: string): Promise<void> {
  for (let nextToken: string | undefined; ; ) {
    const page = await triggers.list({ limit: 100, nextToken });
    for (const { trigger } of page.items) {
      if (!trigger.start.job || (trigger.start.job.registerAs ?? trigger.start.job.experiment) !== model) continue;
      throw modelNameFixed(model, `trigger ${JSON.stringify(trigger.name)} makes versions of it`);
    }
    nextToken = page.nextToken;
    if (nextToken === undefined) return;
  }
}

const named = { name: required(text) };
const latestOf = { ...named, stages: list(text) };

export const modelOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/registered-models/create",
    { name: required(text), tags: list(keyValue), description: text },
    async ({ platform, caller, fields: { name, tags, description = "" } }) => {
      checkModelName(name);
      const labels = { tags: tagsOf(tags), description: checkDescription(description) };
      const who = actorOf(platform, caller);
      const model = await translateErrors(() => platform.registry.create(platform.team, name, labels, who));
      return { registered_model: modelMessage(model, []) };
    },
  ),

  operation("GET /mlflow/registered-models/get", { name: required(text) }, async ({ platform, fields: { name } }) => {
    const model = await findModel(platform, name);
    return modelAnswer(platform, model);
  }),

  operation(
    "PATCH /mlflow/registered-models/update",
    { name: required(text), description: text },
    async ({ platform, caller, fields: { name, description = "" } }) => {
      checkModelName(name);
      const who = actorOf(platform, caller);
      const model = await translateErrors(() =>
        platform.registry.apply(name, [], describe(undefined, checkDescription(description), who)),
      );
      return modelAnswer(platform, model);
    },
  ),

  operation(
    "POST /mlflow/registered-models/rename",
    { name: required(text), new_name: required(text) },
    async ({ platform, caller, fields: { name, new_name } }) => {
      checkModelName(new_name, "new_name");
      let model = await findModel(platform, name);
      if (new_name !== name) {
        await refuseTriggeredModel(platform, name);
        model = await translateErrors(() => platform.registry.rename(name, new_name, actorOf(platform, caller)));
      }
      return modelAnswer(platform, model);
    },
  ),

  operation("DELETE /mlflow/registered-models/delete", named, (call) => changeModel(call, deleteModel)),

  operation("POST /mlflow/registered-models/set-tag", { ...named, key: required(text), value: text }, (call) =>
    changeModel(call, (actor) => {
      const { key, value = "" } = call.fields;
      checkTag({ key, value });
      return setTag(undefined, key, value, actor);
    }),
  ),

  operation("DELETE /mlflow/registered-models/delete-tag", { ...named, key: required(text) }, (call) =>
    changeModel(call, (actor) => {
      checkTagKey(call.fields.key);
      return deleteTag(undefined, call.fields.key, actor);
    }),
  ),

  ...(["GET", "POST"] as const).map((method) =>
    operation(`${method} /mlflow/registered-models/get-latest-versions`, latestOf, async ({ platform, fields }) => {
      const model = await findModel(platform, fields.name);
      const wanted = fields.stages.map((stage) => stageName(stageOf(stage)));
      const latest = latestOfStages(await versionsOf(platform, model)).filter(
        ({ stage }) => wanted.length === 0 || wanted.includes(stageName(stage)),
      );
      return {
        model_versions: undefinedIfEmpty(latest.map((version) => versionMessage(version, model.aliases))),
      };
    }),
  ),
];

async function modelAnswer(platform: Platform, model: Model) {
  return { registered_model: modelMessage(model, latestOfStages(await versionsOf(platform, model))) };
}

/** Changes a model. `transition` checks the other fields. */
async function changeModel(
  { platform, caller, fields: { name } }: MlflowCall<typeof named>,
  transition: (actor: Actor) => Transition,
): Promise<undefined> {
  checkModelName(name);
  const change = transition(actorOf(platform, caller));
  await translateErrors(() => platform.registry.apply(name, [], change));
}

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
    const models = (await platform.registry.list()).filter(matches).sort(order);
    const { items, nextToken } = pageOf(models, limit, page_token);
    const views = await mapLimited(items, readsInParallel, async (model) =>
      modelMessage(model, latestOfStages(await versionsOf(platform, model))),
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
    const matching = versions.filter(matches).sort(order);
    const { items, nextToken } = pageOf(matching, limit, page_token);
    const views = items.map((version) => versionMessage(version, {}));
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
