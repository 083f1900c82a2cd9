import * as z from "zod";
import { columnSchema } from "../datasets/shapes";
import { modelArtifact, outputSchema } from "../evaluation/model-artifact";
import type { DocumentKind } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { count, metrics, type Shape, sha256 } from "../shapes";
import { readArtifact } from "./artifact";
import { type Model, type ModelVersion, modelSignature, version } from "./model";

export const resolvedModel = z
  .object({
    model: z.string(),
    version,
    revision: count.meta({ description: "The model's revision that put it into production." }),
    runId: z.string().optional(),
    artifactUri: z.string().meta({ description: "The artifact manifest; of a version from elsewhere its source." }),
    weightsUri: z.string().optional(),
    sha256: sha256.optional().meta({ description: "Digest of the weights." }),
    inputSchema: z.array(columnSchema).optional(),
    outputSchema: outputSchema.optional(),
    signature: modelSignature.optional(),
    framework: z.string().optional(),
    metrics,
    artifact: modelArtifact.optional().meta({ description: "Present for a version that was trained here." }),
  })
  .meta({ id: "ResolvedModel", description: "The files that serving loads." });
/** The version that serving loads. It does not change while the version is in production. */
export interface ResolvedModel extends Shape<typeof resolvedModel> {}

export const productionPointer: DocumentKind<ResolvedModel> = {
  name: "a model's version in production",
  schema: resolvedModel,
  maxBytes: 2 ** 28,
};

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
  const base = {
    model: champion.model,
    version,
    revision: model.productionRevision ?? 0,
    runId,
    framework,
    signature,
  };
  const artifact = await readArtifact(objects, champion);
  if (artifactKey === undefined || artifact === undefined) {
    return { ...base, artifactUri: source ?? "", sha256: champion.weightsSha256, metrics };
  }
  return {
    ...base,
    artifactUri: uriOf(artifactKey),
    weightsUri: uriOf(objectKeys.content(artifact.weights.sha256)),
    sha256: champion.weightsSha256,
    inputSchema: artifact.inputSchema,
    outputSchema: artifact.outputSchema,
    metrics,
    artifact,
  };
}
