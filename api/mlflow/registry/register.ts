import type { Platform } from "../../../adapters/platform";
import { parseJson } from "../../../core/json-text";
import { describe, setTag } from "../../../core/registry/labels";
import type { Actor, ModelVersion } from "../../../core/registry/model";
import type { ModelUri } from "../../../core/registry/source";
import { modelDirectory } from "../../../core/tracking/artifacts";
import { hidePassword } from "../../../core/url-password";
import { registerTrainedRun } from "../../services/register-run";
import { addSubmitters, submittersOfVersion } from "../../services/registered-source";
import { doesNotExist, invalidParameter } from "../errors";
import { identifyRun } from "../tracking/ports";
import { actorOf, findModel, findVersion, stageName, stageOf, translateErrors, versionsOf } from "./messages";
import { checkSource, notTheSources, parseModelUri, schemeOf } from "./source";
import { checkDescription, checkModelName, tagsOf } from "./validation";

/** Sources that MLflow's clients send for prompts. */
const promptSources: ReadonlySet<string> = new Set(["dummy-source", "prompt-template"]);
const maxSourceLength = 2_000;
const maxLinkLength = 2_000;

type Caller = Pick<Actor, "by" | "person">;

export interface VersionRequest {
  readonly name: string;
  readonly source: string;
  readonly run_id?: string;
  readonly tags: readonly { readonly key?: string; readonly value?: string }[];
  readonly run_link?: string;
  readonly description?: string;
  readonly model_id?: string;
}

/** Registers a version from a logged model, a run's files, another version, or files elsewhere. @returns its number */
export async function registerVersion(platform: Platform, caller: Caller, requested: VersionRequest): Promise<number> {
  const { name, run_link: runLink = "", description = "" } = requested;
  checkModelName(name);
  const tags = tagsOf(requested.tags);
  checkDescription(description);
  if (requested.source.length > maxSourceLength || runLink.length > maxLinkLength) {
    throw invalidParameter(`'source' and 'run_link' may have ${maxSourceLength} characters`);
  }
  const isPrompt = tags["mlflow.prompt.is_prompt"]?.toLowerCase() === "true";
  if (isPrompt && !promptSources.has(requested.source)) {
    throw invalidParameter(
      `Invalid prompt source: '${requested.source}'. Prompt sources must use an MLflow placeholder.`,
    );
  }
  const origin = isPrompt
    ? await ownOrigin(platform, { source: requested.source, runId: requested.run_id ?? "", modelId: "" }, caller)
    : await originOf(platform, requested, caller);
  await findModel(platform, name);
  const { source, runId, modelId, submitters } = origin;
  if (!isPrompt && modelId === "" && (await isTrainedModel(platform, source, runId)))
    return registerTrained(platform, caller, { name, runId, tags, description });
  const version = await translateErrors(() =>
    platform.registry.register(
      platform.team,
      {
        model: name,
        source,
        tags,
        description,
        // Gates read the metrics of the run, which may be logged later.
        metrics: {},
        ...(runId === "" ? {} : { runId }),
        ...(runLink === "" ? {} : { runLink: hidePassword(runLink) }),
        ...(modelId === "" ? {} : { loggedModelId: modelId }),
        submitters,
      },
      actorOf(platform, caller),
    ),
  );
  // A copied version is not recorded on the logged model.
  if (requested.model_id) await recordOnModel(platform, requested.model_id, name, version);
  return version;
}

/**
 * Tests for `runs:/RUN/model` of a run that was trained here, or the place of its files, which MLflow's clients send.
 */
async function isTrainedModel(platform: Platform, source: string, runId: string): Promise<boolean> {
  if (runId === "" || (await platform.runs.find(runId)) === undefined) return false;
  const root = (await platform.records.find(runId))?.artifactUri;
  return [`runs:/${runId}`, root].some((run) => source.replace(/\/+$/, "") === `${run}/${modelDirectory}`);
}

/** Registers the model of a run that was trained here, from the run's record. A run makes one version of a model. */
async function registerTrained(
  platform: Platform,
  caller: Caller,
  {
    name,
    runId,
    tags,
    description,
  }: Pick<VersionRequest, "name"> & {
    readonly runId: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly description: string;
  },
): Promise<number> {
  const version = await translateErrors(() => registerTrainedRun(platform, runId, name, caller));
  const who = actorOf(platform, caller);
  for (const [key, value] of Object.entries(tags))
    await translateErrors(() => platform.registry.apply(name, [version], setTag(version, key, value, who)));
  if (description !== "")
    await translateErrors(() => platform.registry.apply(name, [version], describe(version, description, who)));
  return version;
}

interface Origin {
  readonly source: string;
  /** Empty if there is none. */
  readonly runId: string;
  readonly modelId: string;
  readonly submitters?: readonly string[];
}

async function ownOrigin(platform: Platform, origin: Origin, caller: Caller): Promise<Origin> {
  const { runId } = origin;
  if (runId !== "") await identifyRun(platform, runId);
  return { ...origin, ...(await submittersOfVersion(platform.records, runId || undefined, caller)) };
}

async function originOf(
  platform: Platform,
  { source, run_id, model_id }: VersionRequest,
  caller: Caller,
): Promise<Origin> {
  const runId = run_id ?? "";
  const modelId = model_id ?? "";
  const uri = schemeOf(source) === "models" && !/^models:\/\/[^/]/.test(source) ? parseModelUri(source) : undefined;
  if (uri && !("modelId" in uri)) {
    const original = await resolve(platform, source, uri);
    const known = { runId: original.runId ?? "", modelId: original.loggedModelId ?? "" };
    if ((run_id !== undefined && runId !== known.runId) || (model_id !== undefined && modelId !== known.modelId)) {
      throw invalidParameter(
        `Invalid model version source: '${source}'. The run_id and model_id request parameters must match the referenced model version.`,
      );
    }
    return { source: `models:/${original.model}/${original.version}`, ...known, ...addSubmitters(original, caller) };
  }
  await checkSource(platform, source, { runId, modelId });
  if (modelId === "") return ownOrigin(platform, { source, runId, modelId }, caller);
  const logged = await platform.loggedModels.find(modelId);
  if (logged?.lifecycle !== "active") throw notTheSources(source, "model_id");
  return ownOrigin(platform, { source, runId: runId || logged.sourceRunId, modelId }, caller);
}

async function resolve(
  platform: Platform,
  source: string,
  uri: Exclude<ModelUri, { readonly modelId: string }>,
): Promise<ModelVersion> {
  const model = await findModel(platform, uri.name);
  if (model.tags["mlflow.prompt.is_prompt"]?.toLowerCase() === "true") {
    throw invalidParameter(
      `Invalid model version source: '${source}'. Prompt versions cannot be used as model version sources.`,
    );
  }
  const named =
    uri.alias === undefined || !Object.hasOwn(model.aliases, uri.alias) ? undefined : model.aliases[uri.alias];
  if (uri.alias !== undefined && named === undefined) {
    throw invalidParameter(`Registered model alias ${uri.alias} not found.`);
  }
  const number = uri.version ?? (named === undefined ? undefined : String(named));
  if (number !== undefined) return (await findVersion(platform, uri.name, number)).version;
  const stage = uri.stage === undefined ? undefined : stageName(stageOf(uri.stage));
  const newest = (await versionsOf(platform, model)).find(
    (each) => stage === undefined || stageName(each.stage) === stage,
  );
  if (newest) return newest;
  throw doesNotExist(
    `No versions of model with name '${uri.name}'${stage === undefined ? "" : ` and stage '${stage}'`} found`,
  );
}

async function recordOnModel(platform: Platform, modelId: string, name: string, version: number): Promise<void> {
  await platform.loggedModels.change(modelId, (model) => {
    const notes = parsed(model.tags[versionsTag]);
    const note = JSON.stringify({ name, version });
    if (notes.some((each) => JSON.stringify(each) === note)) return undefined;
    return { ...model, tags: { ...model.tags, [versionsTag]: JSON.stringify([...notes, { name, version }]) } };
  });
}

const versionsTag = "mlflow.modelVersions";

function parsed(text: string | undefined): readonly unknown[] {
  try {
    const read: unknown = parseJson(text ?? "[]");
    return Array.isArray(read) ? read : [];
  } catch {
    return [];
  }
}
