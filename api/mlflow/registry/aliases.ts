import { hasCode } from "../../../core/errors";
import { deleteAlias, setAlias } from "../../../core/registry/labels";
import { doesNotExist, invalidParameter } from "../errors";
import { required, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { actorOf, findModel, translateErrors, translateVersionErrors, versionAnswer, versionsOf } from "./reads";
import { checkAlias, checkAliasIsFree, checkModelName, versionNumber } from "./validation";
import { versionView } from "./view";

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
        return { model_version: versionView(newest, model.aliases) };
      }
      const named = Object.hasOwn(model.aliases, alias) ? model.aliases[alias] : undefined;
      if (named === undefined) throw invalidParameter(`Registered model alias ${alias} not found.`);
      return versionAnswer(platform, name, String(named));
    },
  ),
];
