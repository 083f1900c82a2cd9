import type { Platform } from "../../../adapters/platform";
import type { Transition } from "../../../core/registry/change";
import { modelNameFixed } from "../../../core/registry/errors";
import { deleteTag, describe, setTag } from "../../../core/registry/labels";
import { deleteModel } from "../../../core/registry/lifecycle";
import type { Actor, Model } from "../../../core/registry/model";
import { list, message, required, text } from "../fields";
import { type MlflowCall, type MlflowOperation, operation } from "../operation";
import { actorOf, findModel, translateErrors, versionsOf } from "./reads";
import { stageName, stageOf } from "./stages";
import { checkDescription, checkModelName, checkTag, checkTagKey, tagsOf } from "./validation";
import { latestOfStages, modelView, versionView } from "./view";

/**
 * Refuses to rename a model that is the target of a retraining rule.
 *
 * @throws MODEL_NAME_FIXED
 */
async function refuseRetrainedModel({ retraining }: Pick<Platform, "retraining">, model: string): Promise<void> {
  for (let nextToken: string | undefined; ; ) {
    const page = await retraining.list({ limit: 100, nextToken });
    for (const { rule } of page.items) {
      if ((rule.job.registerAs ?? rule.job.experiment) !== model) continue;
      throw modelNameFixed(model, `retraining rule ${JSON.stringify(rule.name)} makes versions of it`);
    }
    nextToken = page.nextToken;
    if (nextToken === undefined) return;
  }
}

const keyValue = message({ key: text, value: text });
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
      return { registered_model: modelView(model, []) };
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
        await refuseRetrainedModel(platform, name);
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
        model_versions: latest.length === 0 ? undefined : latest.map((version) => versionView(version, model.aliases)),
      };
    }),
  ),
];

async function modelAnswer(platform: Platform, model: Model) {
  return { registered_model: modelView(model, latestOfStages(await versionsOf(platform, model))) };
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
