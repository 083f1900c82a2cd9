import { type ModelUri, readModelUri } from "../../../core/registry/model-uri";
import { invalidParameter } from "../errors";

export type { ModelUri };

/** @throws MlflowError */
export function parseModelUri(uri: string): ModelUri {
  const read = readModelUri(uri);
  if (read === undefined) throw notAModelUri(uri);
  return read;
}

export function notAModelUri(uri: string): Error {
  return invalidParameter(
    `Not a proper models:/ URI: ${uri}. Models URIs must be of the form 'models:/model_name/suffix' or 'models:/model_name@alias' where suffix is a model version, stage, or the string 'latest' and where alias is a registered model alias. Only one of suffix or alias can be defined at a time.`,
  );
}
