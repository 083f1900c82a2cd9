import { z } from "zod";
import type { FeatureTransform, LabelEncoding } from "../../features/manifest";
import type { HistoryEntry, Model, ModelArtifact, ModelVersion, OutputSchema } from "../../registry/model";
import type { NumericsRecord } from "../../training/numerics";
import { contentReference, count, datasetReference, instant, metrics, sha256 } from "./common";
import { columnSchema } from "./datasets";
import { gateVerdict } from "./gates";

const version = z.int().min(1);
const category = z.union([z.string(), z.number(), z.boolean()]);

export const model = z
  .object({
    name: z.string(),
    team: z.string(),
    revision: count.meta({ description: "Counts every change of the model and its versions." }),
    latestVersion: count,
    production: version.optional().meta({ description: "The champion, if there is one." }),
    formerProduction: z.array(version).meta({ description: "Former champions, latest last: where a rollback goes." }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: "Model", description: "A registered model." }) satisfies z.ZodType<Model>;

export const decision = z.enum(["approved", "rejected"]);
const approval = z.object({ decision, by: z.string(), reason: z.string(), at: instant }).meta({ id: "Approval" });

export const modelVersion = z
  .object({
    model: z.string(),
    version,
    stage: z.enum(["none", "staging", "canary", "production", "archived"]),
    runId: z.string(),
    weightsSha256: sha256,
    artifactKey: z.string(),
    dataset: datasetReference,
    metrics,
    evaluationReport: contentReference,
    gate: gateVerdict.optional(),
    approval: approval.optional(),
    served: z
      .object({ gate: gateVerdict, approval })
      .optional()
      .meta({ description: "What it was promoted upon; a rollback to it rests on that." }),
    awaitedBy: z.string().optional().meta({ description: "The run that waits for the approval." }),
    createdAt: instant,
  })
  .meta({ id: "ModelVersion" }) satisfies z.ZodType<ModelVersion>;

export const historyEntry = z
  .object({
    revision: count,
    action: z.enum(["registered", "gated", "approval-requested", "approved", "rejected", "promoted", "rolled-back"]),
    version,
    by: z.string(),
    reason: z.string().optional(),
    at: instant,
  })
  .meta({
    id: "HistoryEntry",
    description: "Who did what, when and why; append-only.",
  }) satisfies z.ZodType<HistoryEntry>;

const place = { column: z.string(), offset: count, width: count, source: count };
const featureTransform = z
  .object({
    outputs: z.array(
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("numeric"), ...place, mean: z.number(), deviation: z.number() }),
        z.object({
          kind: z.literal("one-hot"),
          ...place,
          part: z.enum(["hour", "dayOfWeek", "month"]).optional(),
          vocabulary: z.array(category),
        }),
      ]),
    ),
    width: count,
    shape: z.array(count),
  })
  .meta({
    id: "FeatureTransform",
    description: "The fitted transform: raw row in, dense input out.",
  }) satisfies z.ZodType<FeatureTransform>;

const labelEncoding = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("class"), column: z.string(), classes: z.array(category) }),
    z.object({ kind: z.literal("value"), column: z.string() }),
  ])
  .meta({ id: "LabelEncoding" }) satisfies z.ZodType<LabelEncoding>;

const outputSchema = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("probabilities"), classes: z.array(category) }),
    z.object({ kind: z.literal("value"), column: z.string() }),
  ])
  .meta({ id: "OutputSchema" }) satisfies z.ZodType<OutputSchema>;

const texts = z.record(z.string(), z.string());
const numerics = z
  .object({
    backend: z.enum(["native", "wasm"]),
    device: z.enum(["cpu", "gpu"]),
    libraries: texts,
    threads: z.object({ intraOp: z.int(), interOp: z.int() }),
    cpu: z.object({ model: z.string(), features: z.array(z.string()) }),
    gpu: z.object({ model: z.string(), driver: z.string() }).optional(),
    switches: texts,
    node: z.string(),
    platform: z.string(),
    arch: z.string(),
  })
  .meta({
    id: "NumericsRecord",
    description: "Everything outside code, data and seed that decides the weights' bits.",
  }) satisfies z.ZodType<NumericsRecord>;

const modelArtifact = z
  .object({
    format: z.literal(1),
    runId: z.string(),
    model: z.string(),
    weights: contentReference,
    topology: contentReference.meta({ description: "tfjs-layers topology JSON." }),
    weightsSha256: sha256,
    transform: featureTransform,
    label: labelEncoding,
    inputSchema: z.array(columnSchema),
    outputSchema,
    numerics,
  })
  .meta({ id: "ModelArtifact", description: "What serving loads." }) satisfies z.ZodType<ModelArtifact>;

export const resolvedModel = z
  .object({
    model: z.string(),
    version,
    runId: z.string(),
    artifactUri: z.string(),
    weightsUri: z.string(),
    sha256: sha256.meta({ description: "Of the weights." }),
    inputSchema: z.array(columnSchema),
    outputSchema,
    metrics,
    artifact: modelArtifact,
  })
  .meta({ id: "ResolvedModel", description: "What serving should load." });
