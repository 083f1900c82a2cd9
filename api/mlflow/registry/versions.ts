import { RingmasterError } from "../../../core/errors";
import * as approvals from "../../../core/registry/approval-requests";
import type { Transition } from "../../../core/registry/change";
import { deleteTag, describe, setTag } from "../../../core/registry/labels";
import { deleteVersion } from "../../../core/registry/lifecycle";
import type { Actor } from "../../../core/registry/model";
import { setStage } from "../../../core/registry/transitions";
import { invalidParameter, MlflowError } from "../errors";
import { boolean, keyValue, list, required, text } from "../fields";
import { type MlflowCall, type MlflowOperation, operation } from "../operation";
import { downloadUri } from "./download-uri";
import {
  actorOf,
  findModel,
  findVersion,
  stageName,
  stageOf,
  translateErrors,
  translateVersionErrors,
  versionAnswer,
  versionsOf,
} from "./messages";
import { registerVersion } from "./register";
import { checkDescription, checkModelName, checkTag, checkTagKey, versionNumber } from "./validation";

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
      tags: list(keyValue),
      run_link: text,
      description: text,
      model_id: text,
    },
    async ({ platform, caller, fields }) => {
      const version = await registerVersion(platform, caller, fields);
      return versionAnswer(platform, fields.name, String(version));
    },
  ),

  operation("GET /mlflow/model-versions/get", named, ({ platform, fields: { name, version } }) =>
    versionAnswer(platform, name, version),
  ),

  operation("PATCH /mlflow/model-versions/update", { ...named, description: text }, async (call) => {
    const { name, version, description = "" } = call.fields;
    await changeVersion(call, (number, actor) => describe(number, checkDescription(description), actor));
    return versionAnswer(call.platform, name, version);
  }),

  operation("DELETE /mlflow/model-versions/delete", named, (call) => changeVersion(call, deleteVersion)),

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
      if (stage === "production") await approvals.answerAll(platform, name);
      if (archive && stage === "staging") {
        // The promotion has archived the previous production version.
        const model = await findModel(platform, name);
        for (const other of await versionsOf(platform, model)) {
          if (other.version === number || stageName(other.stage) !== "Staging") continue;
          const archived = setStage(other.version, "archived", actorOf(platform, caller));
          await translateErrors(() => registry.apply(name, [other.version], archived));
        }
      }
      return versionAnswer(platform, name, version);
    },
  ),

  operation("GET /mlflow/model-versions/get-download-uri", named, async ({ platform, fields: { name, version } }) => {
    const row = await findVersion(platform, name, version);
    return { artifact_uri: await downloadUri(platform, row.version) };
  }),

  operation("POST /mlflow/model-versions/set-tag", { ...named, key: required(text), value: text }, (call) => {
    const { key, value } = call.fields;
    return changeVersion(call, (number, actor) => {
      if (value === undefined) throw invalidParameter("Missing value for required parameter 'value'.");
      checkTag({ key, value });
      return setTag(number, key, value, actor);
    });
  }),

  operation("DELETE /mlflow/model-versions/delete-tag", { ...named, key: required(text) }, (call) =>
    changeVersion(call, (number, actor) => {
      checkTagKey(call.fields.key);
      return deleteTag(number, call.fields.key, actor);
    }),
  ),
];

/** Changes a version. `transition` checks the other fields. */
async function changeVersion(
  { platform, caller, fields: { name, version } }: MlflowCall<typeof named>,
  transition: (version: number, actor: Actor) => Transition,
): Promise<undefined> {
  checkModelName(name);
  const number = versionNumber(version);
  const change = transition(number, actorOf(platform, caller));
  await translateVersionErrors(name, version, () => platform.registry.apply(name, [number], change));
}
