import type { Platform } from "../../../adapters/platform";
import {
  type ModelUri,
  readModelUri,
  type SourceFault,
  type SourceOwner,
  schemeOf,
  sourceFault,
} from "../../../core/registry/source";
import { hidePassword, passwordRule } from "../../../core/url-password";
import { invalidParameter } from "../errors";

export { schemeOf };

/** Refuses a source that does not belong to its owner, or that leaves its folder. @throws MlflowError */
export async function checkSource(platform: Platform, source: string, owner: SourceOwner): Promise<void> {
  const fault = await sourceFault(platform, source, owner);
  if (fault !== undefined) throw refusalOf(fault, source, owner);
}

function refusalOf(fault: SourceFault, source: string, { modelId }: SourceOwner): unknown {
  const invalid = `Invalid model version source: '${source}'.`;
  switch (fault) {
    case "has-password":
      return invalidParameter(`Invalid model version source: '${hidePassword(source)}' ${passwordRule}.`);
    case "names-a-host":
      return invalidParameter(
        `'source' cannot use the '${schemeOf(source)}' scheme: the '${schemeOf(source)}' scheme addresses a host other than this server's artifact storage. Log the model's files here, or register them from an object store.`,
      );
    case "local": {
      const parameter = modelId === "" ? "run_id" : "model_id";
      return invalidParameter(
        `${invalid} To use a local path as a model version source, the ${parameter} request parameter has to be specified and the local path has to be contained within the artifact directory of the run specified by the ${parameter}.`,
      );
    }
    case "climbs":
      return invalidParameter(
        `${invalid} If supplying a source as an http, https, local file path, ftp, objectstore, or mlflow-artifacts uri, an absolute path must be provided without relative path references present. Please provide an absolute path.`,
      );
    case "no-model-uri":
      return notAModelUri(source);
    case "not-the-runs":
      return notTheSources(source, "run_id");
    case "not-the-models":
      return notTheSources(source, "model_id");
  }
}

export function notTheSources(source: string, parameter: "run_id" | "model_id"): Error {
  return invalidParameter(
    `Invalid model version source: '${source}'. The ${parameter} request parameter must identify the resource that contains the source.`,
  );
}

export function parseModelUri(uri: string): ModelUri {
  const read = readModelUri(uri);
  if (read === undefined) throw notAModelUri(uri);
  return read;
}

function notAModelUri(uri: string): Error {
  return invalidParameter(
    `Not a proper models:/ URI: ${uri}. Models URIs must be of the form 'models:/model_name/suffix' or 'models:/model_name@alias' where suffix is a model version, stage, or the string 'latest' and where alias is a registered model alias. Only one of suffix or alias can be defined at a time.`,
  );
}
