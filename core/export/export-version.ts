import { isoTime } from "../clock";
import { findJson } from "../object-documents";
import { ObjectNotFoundError } from "../object-errors";
import { objectKeys } from "../platform/object-keys";
import type { Clock, ContentReference, ObjectStore } from "../ports";
import { readArtifact } from "../registry/artifact";
import type { ModelArtifact, ModelVersion } from "../registry/model";
import type { Artifacts } from "../tracking/artifacts";
import { checkedRows, checkRowsOf } from "./check-rows";
import { ExportTooLargeError, NothingToExportError } from "./errors";
import { type Exporter, type ExportFormat, exportFormats } from "./formats";
import { tolerance } from "./parity";
import type { ExportTools } from "./ports";
import { toMlflow } from "./to-mlflow";
import { toOnnx } from "./to-onnx";
import { toSafetensors } from "./to-safetensors";
import { toTfjs } from "./to-tfjs";

/** Of the exporters: files that another one made are made anew. */
const revision = 1;
/** An export is made while its caller waits, in the memory of a function: of weights it takes some seven times as much. */
const largestWeights = 64 * 1024 * 1024;

const exporters: Readonly<Record<ExportFormat, Exporter>> = {
  onnx: toOnnx,
  safetensors: toSafetensors,
  tfjs: toTfjs,
  mlflow: toMlflow,
};

/** What an export consists of; all that it names lies in the content store. */
export interface ExportManifest {
  readonly format: ExportFormat;
  readonly revision: number;
  readonly model: string;
  readonly runId: string;
  readonly weightsSha256: string;
  readonly files: readonly ExportManifestFile[];
  /** On how many rows files were held against the platform's predictor, and what was allowed. */
  readonly check: { readonly rows: number; readonly tolerance: number };
}

export interface ExportManifestFile extends ContentReference {
  readonly path: string;
  readonly contentType: string;
  /** The largest that the check found, of the larger of 1 and the value; absent of a file that nothing runs. */
  readonly difference?: number;
}

export interface ExportDependencies {
  readonly objects: ObjectStore;
  readonly artifacts: Artifacts;
  readonly clock: Clock;
}

/**
 * Makes a version's files in a format, or finds those that were made. Each file that computes is run first: one that differs from the platform's own prediction is
 * kept nowhere. Twice, or twice at once, is once: the files are a function of the version.
 *
 * @throws NothingToExportError, ExportTooLargeError, UnsupportedLayerError, ExportParityError, ExportRefusedError
 */
export async function exportVersion(
  { objects, artifacts, clock }: ExportDependencies,
  tools: () => Promise<ExportTools>,
  version: ModelVersion,
  format: ExportFormat,
): Promise<ExportManifest> {
  const made = await findExport(objects, version, format);
  if (made) return made;
  const artifact = await readArtifactOf(objects, version);
  const manifest = await makeExport(objects, await tools(), artifact, format);
  const updatedAt = isoTime(clock);
  await artifacts.put(
    { kind: "run", runId: artifact.runId },
    manifest.files.map(({ path, sha256, bytes, contentType }) => ({
      path: `exports/${format}/${path}`,
      sha256,
      bytes,
      contentType,
      updatedAt,
    })),
  );
  // Last: whoever finds it finds everything.
  await objects.putNew(keyOf(artifact.runId, format), JSON.stringify(manifest), "application/json");
  return manifest;
}

/** A version's exports that were made. */
export async function listExports(objects: ObjectStore, version: ModelVersion): Promise<readonly ExportManifest[]> {
  const found = await Promise.all(exportFormats.map((format) => findExport(objects, version, format)));
  return found.filter((manifest) => manifest !== undefined);
}

/** The export of a version, or of the run that made it. */
export async function findExport(
  objects: ObjectStore,
  { runId }: Pick<ModelVersion, "runId">,
  format: ExportFormat,
): Promise<ExportManifest | undefined> {
  return runId === undefined ? undefined : findJson<ExportManifest>(objects, keyOf(runId, format));
}

const keyOf = (runId: string, format: ExportFormat): string => objectKeys.exportManifest(runId, format, revision);

async function readArtifactOf(objects: ObjectStore, version: ModelVersion): Promise<ModelArtifact> {
  const artifact = await readArtifact(objects, version).catch((error: unknown) => {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  });
  if (!artifact)
    throw new NothingToExportError(`${version.model} version ${version.version} has no artifact of a training run`);
  if (artifact.weights.bytes > largestWeights) throw new ExportTooLargeError(artifact.weights.bytes, largestWeights);
  return artifact;
}

async function makeExport(
  objects: ObjectStore,
  tools: ExportTools,
  artifact: ModelArtifact,
  format: ExportFormat,
): Promise<ExportManifest> {
  const [topology, weights] = await Promise.all([
    readContent(objects, artifact.topology.sha256),
    readContent(objects, artifact.weights.sha256),
  ]);
  const files = { topology: new TextDecoder().decode(topology), weights };
  const model = await tools.loadModel(files);
  try {
    const check = checkRowsOf(artifact, model);
    const exported = await exporters[format]({ artifact, files, model, check, tools });
    return {
      format,
      revision,
      model: artifact.model,
      runId: artifact.runId,
      weightsSha256: artifact.weightsSha256,
      files: await Promise.all(
        exported.map(async ({ path, contentType, body, difference }) => ({
          path,
          ...(await objects.putContent(body, contentType)),
          contentType,
          ...(difference === undefined ? {} : { difference }),
        })),
      ),
      check: { rows: checkedRows, tolerance },
    };
  } finally {
    model.dispose();
  }
}

async function readContent(objects: ObjectStore, sha256: string): Promise<Uint8Array> {
  try {
    return await objects.getContent(sha256);
  } catch (error) {
    if (error instanceof ObjectNotFoundError)
      throw new NothingToExportError(`the content ${sha256} that the artifact names is not in the store`, error);
    throw error;
  }
}
