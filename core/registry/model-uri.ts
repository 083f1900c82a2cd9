/**
 * The target of a `models:/…` URI: a logged model, or a version of a registered one by number, stage, alias or as the
 * latest.
 */
export type ModelUri =
  | { readonly modelId: string }
  | { readonly name: string; readonly version?: string; readonly stage?: string; readonly alias?: string };

/**
 * Parses a URI like `mlflow/store/artifact/utils/models.py`.
 *
 * @returns `undefined` if it is no such URI
 */
export function readModelUri(uri: string): ModelUri | undefined {
  const path = /^models:(\/.+)$/s.exec(uri)?.[1];
  if (path === undefined) return undefined;
  const parts = path.replace(/^\/+/, "").split("/");
  const [name = "", suffix] = parts;
  if (parts.length > 2 || name.trim() === "") return undefined;
  if (suffix !== undefined) {
    if (suffix.trim() === "") return undefined;
    if (/^\d+$/.test(suffix)) return { name, version: suffix };
    return suffix.toLowerCase() === "latest" ? { name } : { name, stage: suffix };
  }
  const at = name.lastIndexOf("@");
  if (at >= 0) {
    const alias = name.slice(at + 1);
    return at === 0 || alias.trim() === "" ? undefined : { name: name.slice(0, at), alias };
  }
  return { modelId: name };
}
