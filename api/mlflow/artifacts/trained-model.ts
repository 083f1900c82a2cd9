import type { Platform } from "../../../adapters/platform";
import { storeArtifact } from "../../../core/registry/artifact";
import { artifactOfRun, isEvaluated } from "../../../core/registry/registration";
import { modelDirectory } from "../../../core/tracking/records/artifact-paths";
import { exportVersion } from "../../export/export-version";
import type { ExportPlace } from "../export-place";
import type { StoredPlace } from "./places";

/**
 * Returns the place of the files of a model that was trained here, under its run's artifacts: the export for MLflow, which
 * is created on the first request.
 *
 * @throws EXPORT_TOO_LARGE, EXPORT_UNSUPPORTED
 */
export async function trainedModelPlace(
  platform: Platform,
  { owner, path }: StoredPlace,
): Promise<ExportPlace | undefined> {
  const [first, ...rest] = path.split("/");
  if (owner.kind !== "run" || first !== modelDirectory) return undefined;
  const details = await platform.runs.findDetails(owner.runId);
  if (details?.run.status !== "completed" || !isEvaluated(details)) return undefined;
  const { model, job, runId } = details.run;
  const artifact = await artifactOfRun(platform, details, model ?? job.name ?? runId);
  const { weightsSha256 } = artifact;
  const artifactKey = await storeArtifact(platform.objects, artifact);
  const tools = async () => (await import("../../../adapters/export-tools")).exportTools;
  const version = { model: artifact.model, version: 0, artifactKey, weightsSha256 };
  const { stored } = await exportVersion(platform, tools, version, "mlflow");
  return { exported: stored.sha256, path: rest.join("/") };
}
