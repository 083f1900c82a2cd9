import { z } from "zod";
import type { DatasetDraft } from "../../core/datasets/identity";
import type { ColumnSchema, DatasetManifest } from "../../core/datasets/manifest";
import type { DatasetSummary, DatasetVersion } from "../../core/datasets/repository";
import type { SourceFile } from "../../core/tracking/lineage/register-from";
import { count, instant, nextToken, sha256, warning } from "./common";

export const datasetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be 1–63 lower-case letters, digits and hyphens");
const part = z.strictObject({ sha256, bytes: count, rows: count });
const fraction = z.number().min(0).max(1);

export const columnSchema = z
  .strictObject({
    name: z.string().min(1).max(255),
    type: z.enum(["int", "float", "string", "bool", "timestamp", "tensor"]),
    role: z.enum(["feature", "label", "slice", "ignore"]),
    shape: z.array(z.int().min(1)).max(8).optional().meta({ description: "Of a tensor, e.g. [28, 28, 1]." }),
    nullable: z.boolean().optional(),
    values: z
      .array(z.union([z.string(), z.number()]))
      .optional()
      .meta({ description: "Closed set of values." }),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
  })
  .meta({ id: "ColumnSchema" }) satisfies z.ZodType<ColumnSchema>;

const draftShape = {
  name: datasetName,
  digest: sha256.meta({ description: "SHA-256 over schema, shards and split: equal content is the same version." }),
  schema: z.array(columnSchema).min(1).max(10_000),
  schemaHash: sha256.meta({ description: "SHA-256 over column names and types." }),
  rowCount: count,
  bytes: count,
  shards: z.array(part).max(10_000).meta({ description: "Parquet, in row order, in the content store." }),
  split: z.strictObject({
    seed: count,
    fractions: z.strictObject({ train: fraction, validation: fraction, test: fraction }),
    stratifyBy: z.string().optional(),
    indexes: z.strictObject({ train: part, validation: part, test: part }),
  }),
};

export const sourceFile = z
  .strictObject({ file: z.string().min(1).max(1_024), sha256, bytes: count, rows: count })
  .meta({
    id: "SourceFile",
    description: "A raw file, and how many of the version's rows it gave.",
  }) satisfies z.ZodType<SourceFile>;

/** The shape only; `registerDataset` checks what it means. */
export const datasetDraft = z.strictObject(draftShape).meta({
  id: "DatasetDraft",
  description: "A version before it has a number; `ringmaster datasets push` makes it.",
}) satisfies z.ZodType<DatasetDraft>;

const datasetManifest = z
  .object({ ...draftShape, version: z.int().min(1), createdAt: instant })
  .meta({ id: "DatasetManifest" }) satisfies z.ZodType<DatasetManifest>;

export const datasetVersion = z
  .object({
    manifest: datasetManifest,
    team: z.string(),
    createdBy: z
      .string()
      .optional()
      .meta({ description: "Who registered it; absent in versions of earlier releases." }),
    warnings: z
      .array(warning)
      .optional()
      .meta({ description: "Duplicates, leakage and the like; found by its push, then by validation." }),
    deprecation: z
      .object({ at: instant, reason: z.string(), by: z.string().optional() })
      .optional()
      .meta({ description: "No new run may use it." }),
  })
  .meta({
    id: "DatasetVersion",
    description: "An immutable version of a dataset.",
  }) satisfies z.ZodType<DatasetVersion>;

const datasetSummary = z
  .object({
    name: z.string(),
    latestVersion: z.int(),
    rowCount: count,
    bytes: count,
    updatedAt: instant,
    updatedBy: z.string().optional().meta({ description: "Who registered the latest version." }),
  })
  .meta({ id: "DatasetSummary" }) satisfies z.ZodType<DatasetSummary>;

export const datasetPage = z
  .object({ items: z.array(datasetSummary), nextToken })
  .meta({ id: "DatasetPage", description: "Datasets by name." });
export const datasetVersionPage = z
  .object({ items: z.array(datasetVersion), nextToken })
  .meta({ id: "DatasetVersionPage", description: "Versions, newest first." });
