import { RingmasterError } from "../../../core/errors";
import { answerOutdated } from "../../../core/registry/approval";
import { deleteTag, describe, setTag } from "../../../core/registry/labels";
import { deleteVersion } from "../../../core/registry/lifecycle";
import { setStage } from "../../../core/registry/transitions";
import { invalidParameter, MlflowError } from "../errors";
import { boolean, list, message, required, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { downloadUri } from "./download-uri";
import { actorOf, findModel, findVersion, translateErrors, translateVersionErrors, versionsOf } from "./reads";
import { registerVersion } from "./register";
import { stageName, stageOf } from "./stages";
import { checkDescription, checkModelName, checkTag, checkTagKey, versionNumber } from "./validation";
import { versionView } from "./view";

const named = { name: required(text), version: required(text) };

const promotionRefusals: ReadonlySet<string> = new Set(["GATE_NOT_PASSED", "GATE_OUTDATED", "NOT_APPROVED"]);

/** Adds the next steps to a refusal by gates or approvals, which MLflow's clients do not support. */
async function explainRefusal<T>(promote: () => Promise<T>, name: string, version: string): Promise<T> {
  try {
    return await promote();
  } catch (error) {
    if (!(error instanceof RingmasterError) || !promotionRefusals.has(error.code)) throw error;
    const on = `${JSON.stringify(name)} ${version}`;
    throw new MlflowError(
      "PERMISSION_DENIED",
      `${error.message}. Only a version that has passed its model's gates and was approved goes to Production: \`ringmaster models judge ${on}\`, then \`ringmaster models approve ${on}\`, then this again (or \`ringmaster models promote ${on}\`)`,
      error,
    );
  }
}

export const versionOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/model-versions/create",
    {
      name: required(text),
      source: required(text),
      run_id: text,
      tags: list(message({ key: text, value: text })),
      run_link: text,
      description: text,
      model_id: text,
    },
    async ({ platform, caller, fields }) => {
      const version = await registerVersion(platform, caller, fields);
      const found = await findVersion(platform, fields.name, String(version));
      return { model_version: versionView(found.version, found.model.aliases) };
    },
  ),

  operation("GET /mlflow/model-versions/get", named, async ({ platform, fields: { name, version } }) => {
    const found = await findVersion(platform, name, version);
    return { model_version: versionView(found.version, found.model.aliases) };
  }),

  operation(
    "PATCH /mlflow/model-versions/update",
    { ...named, description: text },
    async ({ platform, caller, fields: { name, version, description = "" } }) => {
      checkModelName(name);
      const number = versionNumber(version);
      const text = checkDescription(description);
      const who = actorOf(platform, caller);
      await translateVersionErrors(name, version, () =>
        platform.registry.apply(name, [number], describe(number, text, who)),
      );
      const found = await findVersion(platform, name, version);
      return { model_version: versionView(found.version, found.model.aliases) };
    },
  ),

  operation("DELETE /mlflow/model-versions/delete", named, async ({ platform, caller, fields: { name, version } }) => {
    checkModelName(name);
    const number = versionNumber(version);
    await translateVersionErrors(name, version, () =>
      platform.registry.apply(name, [number], deleteVersion(number, actorOf(platform, caller))),
    );
    return undefined;
  }),

  operation(
    "POST /mlflow/model-versions/transition-stage",
    { ...named, stage: required(text), archive_existing_versions: boolean },
    async ({ platform, caller, fields: { name, version, stage: stageText, archive_existing_versions: archive } }) => {
      const stage = stageOf(stageText);
      if (archive && stage !== "staging" && stage !== "production") {
        throw invalidParameter(
          `Model version transition cannot archive existing model versions because '${stageText}' is not an Active stage. Valid stages are ['Staging', 'Production']`,
        );
      }
      checkModelName(name);
      const number = versionNumber(version);
      const { registry } = platform;
      const moved = () =>
        translateVersionErrors(name, version, () =>
          registry.apply(name, [number], setStage(number, stage, actorOf(platform, caller))),
        );
      await (stage === "production" ? explainRefusal(moved, name, version) : moved());
      if (stage === "production") await answerOutdated(platform, name);
      if (archive && stage === "staging") {
        // The promotion has archived the previous production version.
        const model = await findModel(platform, name);
        for (const other of await versionsOf(platform, model)) {
          if (other.version === number || stageName(other.stage) !== "Staging") continue;
          const archived = setStage(other.version, "archived", actorOf(platform, caller));
          await translateErrors(() => registry.apply(name, [other.version], archived));
        }
      }
      const found = await findVersion(platform, name, version);
      return { model_version: versionView(found.version, found.model.aliases) };
    },
  ),

  operation("GET /mlflow/model-versions/get-download-uri", named, async ({ platform, fields: { name, version } }) => {
    const found = await findVersion(platform, name, version);
    return { artifact_uri: await downloadUri(platform, found.version) };
  }),

  operation(
    "POST /mlflow/model-versions/set-tag",
    { ...named, key: required(text), value: text },
    async ({ platform, caller, fields: { name, version, key, value } }) => {
      checkModelName(name);
      const number = versionNumber(version);
      if (value === undefined) throw invalidParameter("Missing value for required parameter 'value'.");
      checkTag({ key, value });
      const who = actorOf(platform, caller);
      await translateVersionErrors(name, version, () =>
        platform.registry.apply(name, [number], setTag(number, key, value, who)),
      );
      return undefined;
    },
  ),

  operation(
    "DELETE /mlflow/model-versions/delete-tag",
    { ...named, key: required(text) },
    async ({ platform, caller, fields: { name, version, key } }) => {
      checkModelName(name);
      const number = versionNumber(version);
      checkTagKey(key);
      const who = actorOf(platform, caller);
      await translateVersionErrors(name, version, () =>
        platform.registry.apply(name, [number], deleteTag(number, key, who)),
      );
      return undefined;
    },
  ),
];
