import * as z from "zod";
import type { DocumentKind } from "../object-documents";
import { count, instant, type Shape, sha256, warning } from "../shapes";
import { hasPassword, passwordRule } from "../url-password";

export const splitNames = ["train", "validation", "test"] as const;
export type SplitName = (typeof splitNames)[number];

export const datasetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be 1–63 lower-case letters, digits and hyphens");

const part = z.strictObject({ sha256, bytes: count, rows: count });
export interface DatasetShard extends Shape<typeof part> {}

const fraction = z.number().min(0).max(1);

export const columnOrigin = z
  .strictObject({
    view: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}@[1-9]\d{0,8}$/, "must be NAME@VERSION of a feature view"),
    feature: z.string().min(1).max(255),
  })
  .meta({ id: "ColumnOrigin", description: "The feature of a feature view that the column holds." });
export interface ColumnOrigin extends Shape<typeof columnOrigin> {}

export const columnSchema = z
  .strictObject({
    name: z.string().min(1).max(255),
    type: z.enum(["int", "float", "string", "bool", "timestamp", "tensor"]),
    role: z.enum(["feature", "label", "slice", "ignore"]),
    shape: z.array(z.int().min(1)).max(8).optional().meta({ description: "Shape of a tensor, e.g. [28, 28, 1]." }),
    nullable: z.boolean().optional(),
    values: z
      .array(z.union([z.string(), z.number()]))
      .optional()
      .meta({ description: "Closed set of values." }),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    missing: z
      .array(z.string().max(64))
      .max(100)
      .optional()
      .meta({ description: "Texts of a file that mean a missing value, next to the empty one." }),
    format: z.string().max(100).optional().meta({
      description:
        "Format of text in files: of a timestamp as in DuckDB's strptime (ISO 8601 if absent), of a number as an example, `1.234,5`.",
    }),
    from: columnOrigin.optional(),
  })
  .meta({ id: "ColumnSchema" });
export interface ColumnSchema extends Shape<typeof columnSchema> {}

/**
 * `imbalanced`: one of two classes has less than a third of the test rows; `positive`: a job names its class of interest;
 * `rare-classes`, `long-tail`: one of more classes has less than half of an equal share, and there are more than 20 or
 * one has no test row.
 */
export const taskKind = z
  .enum(["regression", "balanced", "imbalanced", "positive", "multiclass", "rare-classes", "long-tail"])
  .meta({ id: "TaskKind", description: "Kind of the prediction task, which decides the primary metric." });
export type TaskKind = Shape<typeof taskKind>;

const draftShape = {
  name: datasetName,
  digest: sha256.meta({ description: "SHA-256 over schema, shards and split: equal content is the same version." }),
  schema: z.array(columnSchema).min(1).max(10_000),
  schemaHash: sha256.meta({ description: "SHA-256 over column names and types." }),
  rowCount: count,
  bytes: count,
  task: taskKind.optional(),
  shards: z.array(part).max(10_000).meta({ description: "Parquet, in row order, in the content store." }),
  split: z.strictObject({
    seed: count,
    fractions: z.strictObject({ train: fraction, validation: fraction, test: fraction }),
    stratifyBy: z.string().optional(),
    by: z.enum(["group", "time"]).optional().meta({
      description:
        "`group`: rows with one value of `column` are in one split. `time`: train is before validation, and that before test.",
    }),
    column: z.string().optional().meta({ description: "The column of the groups or times." }),
    indexes: z.strictObject({ train: part, validation: part, test: part }),
  }),
  parent: z
    .strictObject({ version: z.int().min(1), digest: sha256, rows: count })
    .optional()
    .meta({
      description: "The version to which rows were appended, with its rows. Its shards are the first of this one.",
    }),
};

export const sourceFile = z
  .strictObject({
    file: z
      .string()
      .min(1)
      .max(1_024)
      .refine((file) => !hasPassword(file), passwordRule)
      .meta({ description: "Name of the file." }),
    sha256,
    bytes: count,
    rows: count,
    transform: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .meta({ description: "Command or script, with its commit, that made the file." }),
  })
  .meta({
    id: "SourceFile",
    description: "A raw file, and how many of the version's rows it gave.",
  });
export interface SourceFile extends Shape<typeof sourceFile> {}

/** Shape of a draft; `registerDataset` checks its content. */
export const datasetDraft = z.strictObject(draftShape).meta({
  id: "DatasetDraft",
  description: "A version before it has a number; `ringmaster datasets push` makes it.",
});
export interface DatasetDraft extends Shape<typeof datasetDraft> {}

export const datasetManifest = z
  .object({ ...draftShape, version: z.int().min(1), createdAt: instant })
  .meta({ id: "DatasetManifest" });
export interface DatasetManifest extends Shape<typeof datasetManifest> {}

/** The copy of a manifest for readers of the bucket. */
export const storedManifest: DocumentKind<DatasetManifest> = {
  name: "a dataset's manifest",
  schema: datasetManifest,
  maxBytes: 2 ** 28,
};

export const datasetVersion = z
  .object({
    manifest: datasetManifest,
    team: z.string(),
    createdBy: z.string().optional().meta({ description: "The actor that registered it." }),
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
  });
export interface DatasetVersion extends Shape<typeof datasetVersion> {}
export type Deprecation = NonNullable<DatasetVersion["deprecation"]>;

export const datasetSummary = z
  .object({
    name: z.string(),
    latestVersion: z.int(),
    rowCount: count,
    bytes: count,
    updatedAt: instant,
    updatedBy: z.string().optional().meta({ description: "The actor that registered the latest version." }),
  })
  .meta({ id: "DatasetSummary" });
export interface DatasetSummary extends Shape<typeof datasetSummary> {}
export type ColumnType = ColumnSchema["type"];
