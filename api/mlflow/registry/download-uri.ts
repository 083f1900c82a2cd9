import type { Platform } from "../../../adapters/platform";
import { exportVersion } from "../../../core/export/export-version";
import type { ModelVersion } from "../../../core/registry/model";
import { exportUri } from "../artifacts/export-place";
import { parseModelUri } from "./model-uri";
import { schemeOf } from "./source";

/** A version may be registered from another, and that from a third. */
const longestChain = 20;

/**
 * Where a version's files are to be had. Of one that a run here trained they are its export for MLflow, which is made
 * when it is first asked for.
 *
 * @throws NothingToExportError, ExportTooLargeError, UnsupportedLayerError
 */
export async function downloadUri(platform: Platform, version: ModelVersion): Promise<string> {
  let current = version;
  for (let i = 0; i < longestChain; i += 1) {
    const { source } = current;
    if (source === undefined) return artifactUriOf(platform, current);
    if (schemeOf(source) !== "models") return source;
    const uri = parseModelUri(source);
    if ("modelId" in uri) return (await platform.loggedModels.find(uri.modelId))?.artifactLocation ?? source;
    if (uri.version === undefined) return source;
    // A copy is what it was made of, whatever has become of the name or the version.
    const original = await platform.registry.repository.findVersion(uri.name, Number(uri.version));
    if (original === undefined) return source;
    current = original;
  }
  return current.source ?? "";
}

/** Of a version that was registered without a source. */
async function artifactUriOf(platform: Platform, version: ModelVersion): Promise<string> {
  const { runId, artifactKey } = version;
  const { records } = platform;
  if (runId !== undefined && artifactKey !== undefined) {
    const tools = async () => (await import("../../../adapters/export-tools")).exportTools;
    const { stored } = await exportVersion(platform, tools, version, "mlflow");
    return exportUri(stored.sha256);
  }
  const record = runId === undefined ? undefined : await records.find(runId);
  return record?.artifactUri ?? "";
}
