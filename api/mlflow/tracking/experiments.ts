import { hasCode } from "../../../core/errors";
import { isoTime } from "../../../core/ports";
import { defaultExperimentId } from "../../../core/tracking/experiments";
import type { Experiment } from "../../../core/tracking/shapes";
import { hasPassword, passwordRule } from "../../../core/url-password";
import { setLifecycle } from "../../services/experiment-lifecycle";
import { doesNotExist, invalidParameter, MlflowError } from "../errors";
import { integer, keyValue, list, oneOf, required, text } from "../fields";
import { type MlflowOperation, operation } from "../operation";
import { entityGrammar, entityOrder, parseEntityFilter, parseEntityOrder } from "../search/grammar";
import { experimentMessage, undefinedIfEmpty } from "./messages";
import { checkExperimentIsActive, checkMaxResults, findExperiment, noSuchExperiment, pageOf } from "./ports";
import { checkExperimentName, checkExperimentTag, limits } from "./validation";

type Searched = Pick<Experiment, "experimentId" | "name" | "createdAt" | "updatedAt" | "tags">;

const grammar = entityGrammar(
  {
    name: { type: "text" },
    experiment_id: { type: "id", list: true },
    creation_time: { type: "integer" },
    last_update_time: { type: "integer" },
  },
  true,
);

const attributes = {
  name: ({ name }: Searched) => name,
  experiment_id: ({ experimentId }: Searched) => experimentId,
  creation_time: ({ createdAt }: Searched) => Date.parse(createdAt),
  last_update_time: ({ updatedAt }: Searched) => Date.parse(updatedAt),
};

export function parseExperimentFilter(filter: string): (experiment: Searched) => boolean {
  return parseEntityFilter(grammar, filter, attributes);
}

/** Parses an order; without one, the newest come first. @throws SearchSyntaxError */
function parseExperimentOrder(texts: readonly string[]): (a: Searched, b: Searched) => number {
  const terms = parseEntityOrder(grammar, texts.length > 0 ? texts : ["creation_time DESC", "experiment_id ASC"]);
  const byNumber = { ...attributes, experiment_id: ({ experimentId }: Searched) => Number(experimentId) };
  return entityOrder(terms, [{ field: "experiment_id", ascending: false }], byNumber);
}

export const viewType = oneOf({ ACTIVE_ONLY: 1, DELETED_ONLY: 2, ALL: 3 });

const search = { max_results: integer, page_token: text, filter: text, order_by: list(text), view_type: viewType };

export const experimentOperations: readonly MlflowOperation[] = [
  operation(
    "POST /mlflow/experiments/create",
    { name: required(text), artifact_location: text, tags: list(keyValue) },
    async ({ fields: { name, artifact_location, tags: given }, platform, actor }) => {
      checkExperimentName(name);
      if (artifact_location) checkArtifactLocation(artifact_location);
      const tags: Record<string, string> = {};
      for (const { key = "", value = "" } of given) {
        checkExperimentTag(key, value);
        tags[key] = value;
      }
      const artifactLocation = artifact_location
        ? resolvedLocation(artifact_location, process.env["RINGMASTER_WORKING_DIRECTORY"])
        : undefined;
      const at = isoTime(platform.clock);
      const { experimentId } = await unlessNameIsTaken(name, () =>
        platform.experiments.create({ name, tags, artifactLocation, by: actor, at }),
      );
      return { experiment_id: experimentId };
    },
  ),

  operation("GET /mlflow/experiments/get", { experiment_id: required(text) }, async ({ fields, platform }) => ({
    experiment: experimentMessage(await findExperiment(platform, fields.experiment_id)),
  })),

  operation(
    "GET /mlflow/experiments/get-by-name",
    { experiment_name: required(text) },
    async ({ fields, platform }) => {
      const experiment = await platform.experiments.findByName(fields.experiment_name);
      if (!experiment) throw doesNotExist(`Could not find experiment with name '${fields.experiment_name}'`);
      return { experiment: experimentMessage(experiment) };
    },
  ),

  operation(
    "POST /mlflow/experiments/update",
    { experiment_id: required(text), new_name: required(text) },
    async ({ fields: { experiment_id, new_name }, platform }) => {
      checkExperimentName(new_name);
      const { experimentId } = await findExperiment(platform, experiment_id);
      await unlessNameIsTaken(new_name, () =>
        platform.experiments.change(experimentId, (experiment) => {
          if (experiment.lifecycle !== "active") {
            throw new MlflowError("INVALID_STATE", "Cannot rename a non-active experiment.");
          }
          return { ...experiment, name: new_name, updatedAt: isoTime(platform.clock) };
        }),
      );
      return {};
    },
  ),

  operation("POST /mlflow/experiments/delete", { experiment_id: required(text) }, async ({ fields, platform }) => {
    const experiment = await findExperiment(platform, fields.experiment_id);
    if (experiment.lifecycle !== "active") throw noSuchExperiment(experiment.experimentId);
    if (experiment.experimentId === defaultExperimentId) {
      throw invalidParameter("Cannot delete the default experiment: every team has it");
    }
    await setLifecycle(platform, experiment.experimentId, "deleted");
    return {};
  }),

  operation("POST /mlflow/experiments/restore", { experiment_id: required(text) }, async ({ fields, platform }) => {
    const experiment = await findExperiment(platform, fields.experiment_id);
    if (experiment.lifecycle !== "deleted") throw noSuchExperiment(experiment.experimentId);
    await setLifecycle(platform, experiment.experimentId, "active");
    return {};
  }),

  operation(
    "POST /mlflow/experiments/set-experiment-tag",
    { experiment_id: required(text), key: required(text), value: text },
    async ({ fields: { experiment_id, key, value = "" }, platform }) => {
      checkExperimentTag(key, value);
      const { experimentId } = await findExperiment(platform, experiment_id);
      await platform.experiments.change(experimentId, (experiment) => {
        checkExperimentIsActive(experiment);
        const { tags } = experiment;
        return tags[key] === value ? undefined : { ...experiment, tags: { ...tags, [key]: value } };
      });
      return {};
    },
  ),

  operation(
    "POST /mlflow/experiments/delete-experiment-tag",
    { experiment_id: required(text), key: required(text) },
    async ({ fields: { experiment_id, key }, platform }) => {
      const { experimentId } = await findExperiment(platform, experiment_id);
      await platform.experiments.change(experimentId, (experiment) => {
        checkExperimentIsActive(experiment);
        if (!Object.hasOwn(experiment.tags, key)) {
          throw doesNotExist(`No tag with name: ${key} in experiment with id ${experimentId}`);
        }
        const { [key]: _, ...tags } = experiment.tags;
        return { ...experiment, tags };
      });
      return {};
    },
  ),

  ...(["POST", "GET"] as const).map((method) =>
    operation(`${method} /mlflow/experiments/search`, search, async ({ fields, platform }) => {
      const { filter = "", order_by, view_type: view = "ACTIVE_ONLY", max_results: limit = 0, page_token } = fields;
      checkMaxResults(limit);
      const meets = parseExperimentFilter(filter);
      const order = parseExperimentOrder(order_by);
      // A team has few experiments.
      const found = (await platform.experiments.list())
        .filter(({ lifecycle }) => view === "ALL" || (lifecycle === "active") === (view === "ACTIVE_ONLY"))
        .filter(meets)
        .sort(order);
      const { items, nextToken } = pageOf(found, limit, page_token);
      return { experiments: undefinedIfEmpty(items.map(experimentMessage)), next_page_token: nextToken };
    }),
  ),
];

async function unlessNameIsTaken<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!hasCode(error, "EXPERIMENT_EXISTS")) throw error;
    throw new MlflowError(
      "RESOURCE_ALREADY_EXISTS",
      `Experiment(name=${name}) already exists. ${error.message}`,
      error,
    );
  }
}

/** Refuses invalid locations; the rules of a scheme are left to its client. @throws MlflowError */
function checkArtifactLocation(location: string): void {
  if (hasPassword(location)) throw invalidParameter(`'artifact_location' ${passwordRule}.`);
  if (location.includes("#") || /;[^/]*$/.test(location)) {
    throw invalidParameter("'artifact_location' URL can't include fragments or params.");
  }
  if (location.startsWith("runs:")) {
    throw invalidParameter(`Artifact location cannot be a runs:/ URI. Given: '${location}'`);
  }
  if (location.length > limits.artifactLocation) {
    throw invalidParameter(
      `Invalid artifact path length. The length of the artifact path cannot be greater than ${limits.artifactLocation} characters.`,
    );
  }
}

/** Returns a location under an experiment's. */
export function locationWithin({ artifactLocation }: Experiment, ...parts: readonly string[]): string {
  const [, path, query] = /^([^?]*)(\?.*)?$/s.exec(artifactLocation)!;
  return `${path!.replace(/\/+$/, "")}/${parts.join("/")}${query ?? ""}`;
}

/**
 * Resolves a relative location into the server's directory, as MLflow's server does (`resolve_uri_if_local`).
 * `directory` is absolute; `undefined` if the server shares no disk with its clients.
 */
export function resolvedLocation(location: string, directory: string | undefined): string {
  if (directory === undefined) return location;
  const file = /^file:([^?]*)(\?.*)?$/s.exec(location);
  if (file) return file[1]!.startsWith("/") ? location : `file://${locationUnder(directory, file[1]!)}${file[2] ?? ""}`;
  const isRelative = !location.startsWith("/") && !/^[a-z][a-z\d+.-]*:/i.test(location);
  return isRelative ? locationUnder(directory, location) : location;
}

function locationUnder(directory: string, path: string): string {
  return [directory.replace(/\/+$/, ""), ...path.split("/").filter((part) => part !== "" && part !== ".")].join("/");
}
