import * as z from "zod";
import type { DocumentKind } from "../object-documents";
import { category, count, datasetReference, type Shape } from "../shapes";
import { columnSchema } from "./shapes";

export type { Category } from "../row-values";

/** Maximum number of distinct values of a one-hot, a label's classes or a slice. */
export const valueLimit = 1_000;
/** Probabilities of the quantiles in a profile. */
export const profiledQuantiles = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99] as const;
/** Above this many rows distinct counts (HyperLogLog) and quantiles (t-digest) are approximate. */
export const exactProfileRows = 1_000_000;

const countedText = z.object({ value: z.string(), count });
export interface CountedText extends Shape<typeof countedText> {}

const columnProfile = z.object({
  name: z.string(),
  type: columnSchema.shape.type,
  count: count.meta({ description: "Number of rows that have a value." }),
  nulls: count,
  min: z.union([z.number(), z.string()]).optional().meta({
    description:
      "String: shortest and longest length. Timestamp: ISO 8601. Tensor: minimum and maximum over its numbers.",
  }),
  max: z.union([z.number(), z.string()]).optional(),
  mean: z.number().optional(),
  std: z.number().optional().meta({ description: "Population standard deviation." }),
  distinct: count.optional(),
  quantiles: z.array(z.number()).optional().meta({ description: "Values at `profiledQuantiles`." }),
  top: z
    .array(z.object({ value: category, count }))
    .optional()
    .meta({
      description: "The most frequent values first, at most ten; for strings, ints and bools.",
    }),
  alike: z.array(z.array(countedText)).optional().meta({
    description: "Groups of texts that differ only by case, blanks or a mark at their end, if there are some.",
  }),
});
export interface ColumnProfile extends Shape<typeof columnProfile> {}

const splitCounts = z.object({ train: count, validation: count, test: count });
const profileSchema = z.object({
  dataset: datasetReference,
  rowCount: count,
  exact: z.boolean().meta({ description: "Whether distinct counts and quantiles are exact." }),
  columns: z.array(columnProfile),
  classes: z
    .array(z.object({ value: category, rows: splitCounts }))
    .optional()
    .meta({
      description: "Rows of each class by split, for a label with classes.",
    }),
  duplicateShare: z.number().meta({ description: "Share of rows that equal an earlier one in every column." }),
  leakedShare: z.number().meta({
    description: "Share of the test split's rows that equal a training row in every column. Such rows measure nothing.",
  }),
});
/** The statistics of a validated version; stored as JSON in the content store. */
export interface DatasetProfile extends Shape<typeof profileSchema> {}

export const datasetProfile: DocumentKind<DatasetProfile> = {
  name: "the profile of a dataset",
  schema: profileSchema,
  maxBytes: 2 ** 28,
};

/** Two words and the beginning of a third, or a text of a script that has no blanks between words. */
export const severalWords = "\\S\\s+\\S+\\s+\\S|[\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Thai}].{9}";
const sentence = new RegExp(severalWords.replaceAll(/\\p\{(\w+)\}/g, "\\p{Script=$1}"), "u");

/** Whether a column has another text in most of its rows, with several words: no category, but free text. */
export function hasTexts({ type, count, distinct = 0, top = [] }: ColumnProfile): boolean {
  if (type !== "string" || distinct <= 20 || 2 * distinct <= count || top.length === 0) return false;
  return 2 * top.filter(({ value }) => sentence.test(String(value))).length >= top.length;
}
