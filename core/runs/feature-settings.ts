import * as z from "zod";

const columnName = z.string().min(1).max(255);

/** Names of feature columns. */
export const featureColumns = z
  .array(columnName)
  .min(1)
  .max(10_000)
  .refine((names) => new Set(names).size === names.length, "must name each column once");

/** The encoding of a string or int column as features. */
const columnEncoding = z.discriminatedUnion("encode", [
  /** A position for each value of the training split. */
  z.strictObject({ encode: z.literal("one-hot") }),
  /** A position for each of the k most frequent values of the training split, and one for all others. */
  z.strictObject({ encode: z.literal("top-k"), k: z.int().min(1).max(1_000).default(100) }),
  /** A position for each bucket of a hash of the text. */
  z.strictObject({ encode: z.literal("hash"), buckets: z.int().min(2).max(65_536).default(256) }),
]);
export type ColumnEncoding = Readonly<z.output<typeof columnEncoding>>;

export const featureSettings = z.strictObject({
  standardize: z.boolean().default(true),
  /** Encodings of columns. Default: by the column's type. */
  columns: z.record(columnName, columnEncoding).optional(),
});
