import * as z from "zod";
import { fittedPlan } from "../feature-plans/shapes";
import type { DocumentKind } from "../object-documents";
import type { RunStepKind } from "../runs/run-states";
import { category, contentReference, count, datasetReference, type Shape } from "../shapes";

const place = { column: z.string(), offset: count, width: count, source: count };

export const featureTransform = z
  .object({
    outputs: z.array(
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("numeric"), ...place, mean: z.number(), deviation: z.number() }),
        z.object({
          kind: z.literal("piecewise"),
          ...place,
          mean: z.number(),
          deviation: z.number(),
          boundaries: z.array(z.number()).meta({
            description:
              "Piece i of the standardised number (float32; missing: 0) is how far it is from boundary i to the next one, limited to 0 … 1.",
          }),
          means: z.array(z.number()).meta({ description: "Subtracted from the pieces." }),
          scale: z.number().meta({ description: "Factor of the differences." }),
        }),
        z.object({
          kind: z.literal("one-hot"),
          ...place,
          part: z.enum(["hour", "dayOfWeek", "month"]).optional(),
          vocabulary: z.array(category),
          other: z
            .literal(true)
            .optional()
            .meta({ description: "The last position stands for all values that the vocabulary lacks." }),
          buckets: count
            .optional()
            .meta({ description: "The position is MurmurHash3 of the text, modulo this number; no vocabulary." }),
        }),
      ]),
    ),
    width: count,
    shape: z.array(count),
    plan: fittedPlan.optional().meta({
      description: "The plan that makes the features. Its outputs are those of the transform, in the same order.",
    }),
  })
  .meta({
    id: "FeatureTransform",
    description: "The fitted transform: raw row in, dense input out.",
  });
export interface FeatureTransform extends Shape<typeof featureTransform> {}
export type FeatureOutput = FeatureTransform["outputs"][number];

export const labelEncoding = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("class"), column: z.string(), classes: z.array(category) }),
    z.object({
      kind: z.literal("value"),
      column: z.string(),
      mean: z
        .number()
        .optional()
        .meta({ description: "Mean of the training rows, if the job standardises the label." }),
      deviation: z.number().optional(),
    }),
  ])
  .meta({ id: "LabelEncoding" });
export type LabelEncoding = Shape<typeof labelEncoding>;

/** The part of a timestamp that becomes a one-hot, in UTC: hour 0–23, day of the week 0–6 from Sunday, month 1–12. */
export type TimestampPart = "hour" | "dayOfWeek" | "month";

const featureShard = contentReference.extend({ rows: count });
/**
 * A materialised shard: safetensors with `numeric` F32 [rows, n] (standardised, from which readers compute pieces), `codes` I32 [rows, c], `label` I32
 * [rows] (class index) or F32 [rows] (value), and, in the test split, `slices` I32 [rows, s] (index into
 * `SliceColumn.values`). Tensors with a zero dimension are omitted.
 */
export interface FeatureShard extends Shape<typeof featureShard> {}

const sliceColumn = z.object({ column: z.string(), values: z.array(category.nullable()) });
export interface SliceColumn extends Shape<typeof sliceColumn> {}

const split = z.object({ rows: count, shards: z.array(featureShard) });
const featureManifestSchema = z.object({
  inputHash: z.string(),
  dataset: datasetReference,
  transform: featureTransform,
  label: labelEncoding,
  slices: z.array(sliceColumn),
  splits: z.object({ train: split, validation: split, test: split }),
});
/** Output of the step `PrepareFeatures`. */
export const featuresOutput = z.object({
  featureManifestKey: z.string(),
  digest: z.string().meta({ description: "Digest of the manifest's JSON." }),
  width: count,
  rows: z.object({ train: count, validation: count, test: count }),
});
export interface FeaturesOutput extends Shape<typeof featuresOutput> {}
export const featuresKind: RunStepKind<FeaturesOutput> = { step: "PrepareFeatures", output: featuresOutput };

/** A materialised feature set. Its JSON is stored at `objectKeys.featureManifest(inputHash)`. */
export interface FeatureManifest extends Shape<typeof featureManifestSchema> {}

export const featureManifest: DocumentKind<FeatureManifest> = {
  name: "a feature manifest",
  schema: featureManifestSchema,
  maxBytes: 2 ** 28,
};
