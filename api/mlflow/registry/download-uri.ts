import type { Platform } from "../../../adapters/platform";
import type { ModelVersion } from "../../../core/registry/model";
import { exportVersion } from "../../export/export-version";
import { exportUri } from "../export-place";
import { parseModelUri, schemeOf } from "./source";

/** Maximum length of a chain of versions that were registered from each other. */
const maxChainLength = 20;

/**
 * For a version trained here, the export for MLflow. @throws NOTHING_TO_EXPORT, EXPORT_TOO_LARGE, EXPORT_UNSUPPORTED
 */
export async function downloadUri(platform: Platform, version: ModelVersion): Promise<string> {
  let current = version;
  for (let i = 0; i < maxChainLength; i += 1) {
    const { source } = current;
    if (source === undefined) return artifactUriOf(platform, current);
    if (schemeOf(source) !== "models") return source;
    const uri = parseModelUri(source);
    if ("modelId" in uri) return (await platform.loggedModels.find(uri.modelId))?.artifactLocation ?? source;
    if (uri.version === undefined) return source;
    // A copy has the files of its original, even after the original was renamed or deleted.
    const original = await platform.registry.repository.findVersion(uri.name, Number(uri.version));
    if (original === undefined) return source;
    current = original;
  }
  return current.source ?? "";
}

/** Returns the location for a version that was registered without a source. */
async function artifactUriOf(platform: Platform, version: ModelVersion): Promise<string> {
  const { runId, artifactKey } = version;
  const { records } = platform;
  if (runId !== undefined && artifactKey !== undefined) {
    const tools = async () => (await import("../../services/export-tools")).exportTools;
    const { stored } = await exportVersion(platform, tools, version, "mlflow");
    return exportUri(stored.sha256);
  }
  const record = runId === undefined ? undefined : await records.find(runId);
  return record?.artifactUri ?? "";
}
