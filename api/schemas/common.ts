import { z } from "zod";
import type { Warning } from "../../core/warnings";

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
  .meta({ id: "Instant", description: "A moment, ISO 8601 in UTC.", example: "2026-01-01T09:30:00.000Z" });
/** Numbers by metric. */
export const metrics = z.record(z.string(), z.number());

export const contentReference = z
  .object({ sha256, bytes: count })
  .meta({ id: "ContentReference", description: "Something in the content store." });
export const datasetReference = z
  .object({ name: z.string(), version: z.int(), digest: sha256 })
  .meta({ id: "DatasetReference", description: "A version of a dataset, which never changes." });

/** Of datasets, experiments and models. */
export const nameText = z.string().min(1).max(255);
export const versionNumber = z.coerce.number<number | string>().int().min(1).max(999_999_999);
export const reason = z.string().max(2_000).default("").meta({ description: "Why, for the record." });

export const pageQuery = z.strictObject({
  limit: z.coerce
    .number<number | string>()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .meta({ description: "How many, at most." }),
  nextToken: z.string().max(4_096).optional().meta({ description: "Of the page before: go on where it ended." }),
});
export const nextToken = z.string().optional().meta({ description: "Opaque; absent on the last page." });

/** JSON has no NaN and no infinities: they are strings. */
export const metricValue = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]).meta({
  id: "MetricValue",
  description: "A number; NaN and the infinities, which JSON lacks, are strings.",
  example: 0.25,
});

export const warning = z.object({ code: z.string(), message: z.string() }).meta({
  id: "Warning",
  description: "A finding that does not stop the work; `code` is stable.",
}) satisfies z.ZodType<Warning>;

export const problem = z
  .object({ path: z.string(), value: z.unknown().optional(), rule: z.string(), line: z.int().optional() })
  .meta({
    id: "Problem",
    description: "Where the request breaks a rule: the place, the value that stands there, the rule.",
  });

export const errorBody = z
  .object({
    error: z.object({
      code: z.string(),
      message: z
        .string()
        .meta({ description: "What was wrong, with which value, by which rule, and what to do next." }),
      details: z
        .unknown()
        .optional()
        .meta({ description: "Evidence by code; of INVALID_INPUT `{problems: Problem[]}`." }),
      requestId: z.string(),
    }),
  })
  .meta({ id: "Error", description: "Every refusal and failure has this shape." });
