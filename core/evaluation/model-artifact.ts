import * as z from "zod";
import { columnSchema } from "../datasets/shapes";
import { featureTransform, labelEncoding } from "../features/shapes";
import type { DocumentKind } from "../object-documents";
import { decision } from "../runs/decision";
import { numericsRecord } from "../runs/shapes";
import { category, contentReference, type Shape, sha256 } from "../shapes";

export const outputSchema = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("probabilities"), classes: z.array(category) }),
    z.object({ kind: z.literal("value"), column: z.string() }),
  ])
  .meta({ id: "OutputSchema" });
export type OutputSchema = Shape<typeof outputSchema>;

export const modelArtifact = z
  .object({
    format: z.literal(1),
    runId: z.string(),
    model: z.string(),
    weights: contentReference,
    topology: contentReference.meta({ description: "tfjs-layers topology JSON." }),
    weightsSha256: sha256,
    container: z
      .literal(true)
      .optional()
      .meta({ description: "The weights are an archive of files that only a container's code loads." }),
    transform: featureTransform,
    label: labelEncoding,
    inputSchema: z.array(columnSchema),
    outputSchema,
    decision: decision.optional(),
    numerics: numericsRecord,
  })
  .meta({ id: "ModelArtifact", description: "The files that serving loads." });
export interface ModelArtifact extends Shape<typeof modelArtifact> {}

export const artifactManifest: DocumentKind<ModelArtifact> = {
  name: "the manifest of a model",
  schema: modelArtifact,
  maxBytes: 2 ** 28,
};

export const exportFormats = ["onnx", "safetensors", "tfjs", "mlflow", "savedmodel", "sql"] as const;

export type ExportFormat = (typeof exportFormats)[number];
