import * as z from "zod";

/** Makes every member readonly, at any depth; arrays and tuples too. */
export type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;

export type Shape<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "must be a lower-case hex SHA-256")
  .meta({
    id: "Sha256",
    description: "A SHA-256, lower-case hex.",
    example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  });

export const count = z.int().min(0);

export const instant = z
  .string()
  .meta({ id: "Instant", description: "Time, ISO 8601 in UTC.", example: "2026-01-01T09:30:00.000Z" });

/** Base64, in whole groups of four characters. */
export const base64 = z
  .string()
  // A pattern of groups would exhaust the stack of the matcher at some megabytes.
  .refine((text) => text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.replace(/={1,2}$/, "")), "must be base64");

/** The range of DynamoDB's numbers in magnitude, except 0. */
export const storedNumbers = { smallest: 1e-130, largest: 9.99e125 } as const;

export function isStorable(value: number): boolean {
  const size = Math.abs(value);
  return size === 0 || (size >= storedNumbers.smallest && size <= storedNumbers.largest);
}

/** Returns the storable number that is nearest to a finite one. */
export function nearestStorable(value: number): number {
  const size = Math.abs(value);
  return size < storedNumbers.smallest ? 0 : Math.sign(value) * Math.min(size, storedNumbers.largest);
}

/** A number of a document that becomes a row. */
export const storedNumber = z.number().refine(isStorable, {
  error: `must be 0, or between ${storedNumbers.smallest} and ${storedNumbers.largest} in magnitude, which is the range of the database`,
});

export const metrics = z.record(z.string(), z.number());

export const contentReference = z
  .object({ sha256, bytes: count })
  .meta({ id: "ContentReference", description: "Something in the content store." });
export interface ContentReference extends Shape<typeof contentReference> {}

export const datasetReference = z
  .object({ name: z.string(), version: z.int(), digest: sha256 })
  .meta({ id: "DatasetReference", description: "A version of a dataset, which never changes." });

export const nextToken = z.string().optional().meta({ description: "Opaque; absent on the last page." });

/** A number in JSON. NaN and infinities are strings. */
export const metricValue = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]).meta({
  id: "MetricValue",
  description: "A number; NaN and the infinities, which JSON lacks, are strings.",
  example: 0.25,
});

export type MetricValue = Shape<typeof metricValue>;

export const warning = z.object({ code: z.string(), message: z.string() }).meta({
  id: "Warning",
  description: "A finding that does not stop the work; `code` is stable.",
});
export interface Warning extends Shape<typeof warning> {}

export const category = z.union([z.string(), z.number(), z.boolean()]);

export const texts = z.record(z.string(), z.string());
