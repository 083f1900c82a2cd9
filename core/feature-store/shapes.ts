import * as z from "zod";
import { planColumn, planFile } from "../feature-plans/shapes";
import { contentReference, count, instant, nextToken, type Shape, sha256 } from "../shapes";

/** Fields of a feature view's file: those of a feature plan's file, and the types of the columns of the view's rows. */
export const viewDefinition = planFile.extend({
  columns: z
    .record(planColumn.shape.name, planColumn.shape.type)
    .meta({ description: "Type of each column of the rows: entities, times and values." }),
});
export interface ViewDefinition extends Shape<typeof viewDefinition> {}

export const feature = z
  .object({ name: z.string(), type: planColumn.shape.type })
  .meta({ id: "Feature", description: "A column that is neither an entity nor a time, or the result of a step." });
export interface Feature extends Shape<typeof feature> {}

export const viewVersion = z
  .object({
    name: z.string(),
    version: z.int().min(1),
    generation: z.int().min(1).meta({
      description: "Identifies the rows that the version reads. An incompatible version starts a new generation.",
    }),
    digest: sha256.meta({ description: "SHA-256 of the definition: equal definitions are the same version." }),
    definition: viewDefinition.meta({ id: "FeatureViewDefinition" }),
    features: z.array(feature),
    createdBy: z.string(),
    createdAt: instant,
  })
  .meta({ id: "FeatureViewVersion", description: "An immutable version of a feature view." });
export interface ViewVersion extends Shape<typeof viewVersion> {}

export const viewSummary = z
  .object({
    name: z.string(),
    latestVersion: z.int(),
    owner: z.string().optional(),
    description: z.string().optional(),
    entities: z.array(z.string()),
    features: z.array(z.string()),
    updatedAt: instant,
  })
  .meta({ id: "FeatureViewSummary" });
export interface ViewSummary extends Shape<typeof viewSummary> {}

const day = z.iso.date();

/** Maximum number of files of a batch: its row in the Catalog lists them. */
export const maxBatchFiles = 1_000;

const batchFile = contentReference
  .extend({ rows: z.int().min(1), from: day, to: day.meta({ description: "The last day, inclusive." }) })
  .meta({ id: "FeatureFile", description: "Parquet with rows of the days by event time (UTC), in their order." });
export interface BatchFile extends Shape<typeof batchFile> {}

const draftShape = {
  files: z.array(batchFile).min(1).max(maxBatchFiles),
  rows: z.int().min(1),
  latestTime: z.iso.datetime().meta({ description: "Maximum of the rows' event and creation times." }),
};

export const batchDraft = z
  .strictObject({ generation: z.int().min(1), ...draftShape })
  .meta({ id: "FeatureBatchDraft", description: "Uploaded rows before they are visible." });
export interface BatchDraft extends Shape<typeof batchDraft> {}

export const batch = z
  .object({
    sequence: z.int().min(1).meta({ description: "Order of arrival." }),
    digest: sha256,
    ...draftShape,
    receivedAt: instant,
    receivedBy: z.string(),
  })
  .meta({ id: "FeatureBatch", description: "Rows that became visible together." });
export interface Batch extends Shape<typeof batch> {}

/** Batches and files that the online store has. */
const position = z
  .object({
    batch: count.meta({ description: "The last batch that is complete in the online store." }),
    files: count.meta({ description: "Files of the next batch that are." }),
  })
  .meta({ id: "OnlinePosition" });
export interface Position extends Shape<typeof position> {}

export const rowsState = z
  .object({ batches: count, rows: count, online: position })
  .meta({ id: "FeatureRowsState", description: "Rows of a generation of a view." });
export interface RowsState extends Shape<typeof rowsState> {}

/** Value of a feature or an entity column. Times are ISO 8601 in UTC. */
export const featureValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type FeatureValue = Shape<typeof featureValue>;

export const onlineRow = z
  .object({
    entity: z.record(z.string(), featureValue),
    features: z.record(z.string(), featureValue),
    eventTimes: z
      .record(z.string(), instant.nullable())
      .meta({ description: "By view: event time of the row; null if the entity has none within the TTL." }),
  })
  .meta({ id: "OnlineFeatures" });
export interface OnlineFeatures extends Shape<typeof onlineRow> {}

export const viewPage = z.object({ items: z.array(viewSummary), nextToken }).meta({ id: "FeatureViewPage" });
export const viewVersionPage = z
  .object({ items: z.array(viewVersion), nextToken })
  .meta({ id: "FeatureViewVersionPage" });
export const batchPage = z.object({ items: z.array(batch), nextToken }).meta({ id: "FeatureBatchPage" });

export const maxStreamedRows = 500;

export function namesIn({ name, features }: ViewVersion, fullNames: boolean): ReadonlyMap<string, string> {
  return new Map(features.map((one) => [one.name, fullNames ? `${name}__${one.name}` : one.name]));
}
