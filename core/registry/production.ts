import type { ColumnSchema } from "../datasets/shapes";
import type { ModelArtifact, OutputSchema } from "../evaluation/model-artifact";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { readArtifact } from "./artifact";
import type { Model, ModelSignature, ModelVersion } from "./model";

/** The version that serving loads. It does not change while the version is in production. */
export interface ResolvedModel {
  readonly model: string;
  readonly version: number;
  /** The model's revision that put it into production. A later promotion or rollback has a higher one. */
  readonly revision: number;
  readonly runId?: string;
  /** The artifact manifest; for a version from elsewhere, its source. */
  readonly artifactUri: string;
  readonly weightsUri?: string;
  readonly sha256?: string;
  readonly inputSchema?: readonly ColumnSchema[];
  readonly outputSchema?: OutputSchema;
  readonly signature?: ModelSignature;
  readonly framework?: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly artifact?: ModelArtifact;
}

/** Returns a strong entity tag of the response, which is a function of these two fields. */
export function productionTag({ revision, version }: Pick<ResolvedModel, "revision" | "version">): string {
  return `"${revision}-${version}"`;
}

/** @param uriOf returns the URI of an object's key for external clients */
export async function resolveModel(
  objects: ObjectStore,
  uriOf: (key: string) => string,
  model: Pick<Model, "productionRevision">,
  champion: ModelVersion,
): Promise<ResolvedModel> {
  const { version, runId, artifactKey, source, framework, signature, metrics } = champion;
  const known = {
    model: champion.model,
    version,
    revision: model.productionRevision ?? 0,
    runId,
    framework,
    signature,
  };
  const artifact = await readArtifact(objects, champion);
  if (artifactKey === undefined || artifact === undefined) {
    return { ...known, artifactUri: source ?? "", sha256: champion.weightsSha256, metrics };
  }
  return {
    ...known,
    artifactUri: uriOf(artifactKey),
    weightsUri: uriOf(objectKeys.content(artifact.weights.sha256)),
    sha256: champion.weightsSha256,
    inputSchema: artifact.inputSchema,
    outputSchema: artifact.outputSchema,
    metrics,
    artifact,
  };
}
