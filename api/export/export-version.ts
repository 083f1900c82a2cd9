import { digestOf } from "../../core/digest";
import { containerReason } from "../../core/evaluation/container-model";
import { type ExportFormat, exportFormats, type ModelArtifact } from "../../core/evaluation/model-artifact";
import { type Exporter, type ExportTools, exportTooLarge, nothingToExport } from "../../core/export";
import { type DocumentKind, getJsonContent, ObjectNotFoundError } from "../../core/object-documents";
import { type Clock, isoTime, type ObjectStore } from "../../core/ports";
import { readArtifact } from "../../core/registry/artifact";
import type { ModelVersion } from "../../core/registry/model";
import type { StepCache } from "../../core/runs/run-repository";
import { type ContentReference, contentReference } from "../../core/shapes";
import type { Artifacts } from "../../core/tracking/artifacts";
import { checkedRows, checkRowsOf } from "./check-rows";
import { tolerance } from "./parity";
import { type ExportManifest, exportManifest } from "./shapes";
import { toMlflow } from "./to-mlflow";
import { toOnnx } from "./to-onnx";
import { toSafetensors } from "./to-safetensors";
import { toSavedModel } from "./to-saved-model";
import { toSql } from "./to-sql";
import { toTfjs } from "./to-tfjs";

export type { ExportManifest, ExportManifestFile } from "./shapes";

/** Revision of the exporters. Files of another revision are exported again. */
const revision = 2;
/** Maximum size of weights. An export is made in a function's memory, and takes about seven times their size. */
const maxWeightBytes = 64 * 1024 * 1024;

const exporters: Readonly<Record<ExportFormat, Exporter>> = {
  onnx: toOnnx,
  safetensors: toSafetensors,
  tfjs: toTfjs,
  mlflow: toMlflow,
  savedmodel: toSavedModel,
  sql: toSql,
};

export interface ExportDependencies {
  readonly objects: ObjectStore;
  readonly artifacts: Pick<Artifacts, "putProduced">;
  readonly cache: StepCache;
  readonly clock: Clock;
}

const storedManifest: DocumentKind<ExportManifest> = {
  name: "the manifest of an export",
  schema: exportManifest,
  maxBytes: 2 ** 26,
};

/** An export and its manifest's content; the digest determines every byte. */
interface StoredExport {
  readonly manifest: ExportManifest;
  readonly stored: ContentReference;
}

/**
 * Exports a version's files in a format, or returns the existing export. Idempotent. A file whose predictions differ
 * from the platform's is not stored. A row of the Catalog has the manifest's digest by the verified artifact. @throws
 * NOTHING_TO_EXPORT, EXPORT_TOO_LARGE, EXPORT_UNSUPPORTED, EXPORT_DIFFERS
 */
export async function exportVersion(
  dependencies: ExportDependencies,
  tools: () => Promise<ExportTools>,
  version: Pick<ModelVersion, "model" | "version" | "artifactKey" | "weightsSha256">,
  format: ExportFormat,
): Promise<StoredExport> {
  const { objects, artifacts, cache, clock } = dependencies;
  const artifact = await readArtifactOf(objects, version);
  const cached = await findExport(dependencies, artifact, format);
  if (cached) return cached;
  const manifest = await makeExport(objects, await tools(), artifact, format);
  const updatedAt = isoTime(clock);
  await artifacts.putProduced(
    artifact.runId,
    manifest.files.map(({ path, sha256, bytes, contentType }) => ({
      path: `exports/${format}/${path}`,
      sha256,
      bytes,
      contentType,
      updatedAt,
    })),
  );
  const stored = await objects.putContent(JSON.stringify(manifest), "application/json");
  // Written last, so that a caller that finds the row finds everything.
  await cache.keep("Export", keyOf(artifact, format), { runId: artifact.runId, output: stored, at: updatedAt });
  return { manifest, stored };
}

export async function listExports(
  dependencies: Pick<ExportDependencies, "objects" | "cache">,
  version: ModelVersion,
): Promise<readonly ExportManifest[]> {
  const artifact = await findArtifact(dependencies.objects, version);
  if (!artifact) return [];
  const exports = await Promise.all(exportFormats.map((format) => findExport(dependencies, artifact, format)));
  return exports.flatMap((each) => each?.manifest ?? []);
}

async function findExport(
  { objects, cache }: Pick<ExportDependencies, "objects" | "cache">,
  artifact: ModelArtifact,
  format: ExportFormat,
): Promise<StoredExport | undefined> {
  const entry = await cache.find("Export", keyOf(artifact, format));
  if (!entry) return undefined;
  const stored = contentReference.parse(entry.output);
  return { manifest: await getJsonContent(objects, stored.sha256, storedManifest), stored };
}

const keyOf = (artifact: ModelArtifact, format: ExportFormat): string => digestOf({ artifact, format, revision });

async function findArtifact(
  objects: ObjectStore,
  version: Pick<ModelVersion, "artifactKey" | "weightsSha256">,
): Promise<ModelArtifact | undefined> {
  try {
    return await readArtifact(objects, version);
  } catch (error) {
    if (error instanceof ObjectNotFoundError) return undefined;
    throw error;
  }
}

async function readArtifactOf(
  objects: ObjectStore,
  version: Parameters<typeof exportVersion>[2],
): Promise<ModelArtifact> {
  const artifact = await findArtifact(objects, version);
  if (!artifact) throw nothingToExport(`${version.model} version ${version.version} has no artifact of a training run`);
  const reason = containerReason(version.model, artifact.container);
  if (reason) throw nothingToExport(reason);
  if (artifact.weights.bytes > maxWeightBytes) throw exportTooLarge(artifact.weights.bytes, maxWeightBytes);
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
      throw nothingToExport(`the content ${sha256} that the artifact names is not in the store`, error);
    throw error;
  }
}
