import { invalidParameter } from "../errors";

/** What a `models:/…` URI names: a logged model, or a version of a registered one by number, stage, alias or as the latest. */
export type ModelUri =
  | { readonly modelId: string }
  | { readonly name: string; readonly version?: string; readonly stage?: string; readonly alias?: string };

/** `mlflow/store/artifact/utils/models.py`. @throws MlflowError */
export function parseModelUri(uri: string): ModelUri {
  const refused = invalidParameter(
    `Not a proper models:/ URI: ${uri}. Models URIs must be of the form 'models:/model_name/suffix' or 'models:/model_name@alias' where suffix is a model version, stage, or the string 'latest' and where alias is a registered model alias. Only one of suffix or alias can be defined at a time.`,
  );
  const path = /^models:(\/.+)$/s.exec(uri)?.[1];
  if (path === undefined) throw refused;
  const parts = path.replace(/^\/+/, "").split("/");
  const [name = "", suffix] = parts;
  if (parts.length > 2 || name.trim() === "") throw refused;
  if (suffix !== undefined) {
    if (suffix.trim() === "") throw refused;
    if (/^\d+$/.test(suffix)) return { name, version: suffix };
    return suffix.toLowerCase() === "latest" ? { name } : { name, stage: suffix };
  }
  const at = name.lastIndexOf("@");
  if (at >= 0) {
    const alias = name.slice(at + 1);
    if (at === 0 || alias.trim() === "") throw refused;
    return { name: name.slice(0, at), alias };
  }
  return { modelId: name };
}
