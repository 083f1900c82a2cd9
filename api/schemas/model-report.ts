import { z } from "zod";
import type { VersionReport } from "../../core/registry/report/report";
import { contentReference, count, instant, metrics } from "./common";
import { gateVerdict } from "./gates";
import { approval, stage } from "./models";

const category = z.union([z.string(), z.number(), z.boolean()]);

const latency = z
  .object({
    predictions: count,
    warmUp: count,
    p50Ms: z.number(),
    p90Ms: z.number(),
    p99Ms: z.number(),
    maxMs: z.number(),
    histogram: z.array(z.object({ fromMs: z.number(), toMs: z.number(), count })),
    machine: z.object({
      cpu: z.string(),
      processors: count,
      memoryMb: count,
      host: z.string(),
      node: z.string(),
      platform: z.string(),
      arch: z.string(),
    }),
  })
  .meta({ id: "Latency", description: "Times of single predictions, on the machine that evaluated." });

const calibration = z
  .object({
    of: z.enum(["positive", "predicted"]),
    bins: z.array(
      z.object({ from: z.number(), to: z.number(), rows: count, confidence: z.number(), observed: z.number() }),
    ),
    error: z.number().meta({ description: "Expected calibration error." }),
  })
  .meta({ id: "Calibration" });

export const versionReport = z
  .object({
    model: z.string(),
    version: z.int().min(1),
    stage,
    runId: z.string().optional(),
    dataset: z.object({ name: z.string(), version: z.int().optional(), digest: z.string() }).optional(),
    createdAt: instant,
    metrics,
    gate: gateVerdict.optional(),
    approvals: z.array(approval),
    approvalsWithdrawn: z.string().optional().meta({ description: "Why earlier approvals no longer count." }),
    files: z
      .array(contentReference.extend({ name: z.string() }).meta({ id: "ModelFile" }))
      .optional()
      .meta({ description: "What serving loads, in the content store." }),
    latency: latency.optional(),
    evaluation: z
      .object({
        rows: count,
        label: z.string(),
        classes: z
          .array(
            z.object({
              value: category,
              support: count,
              precision: z.number(),
              recall: z.number(),
              f1: z.number(),
              auc: z.number().optional(),
            }),
          )
          .optional(),
        confusionMatrix: z
          .array(z.array(count))
          .optional()
          .meta({ description: "Rows are true classes, columns predicted ones." }),
        slices: z.array(z.object({ column: z.string(), value: category.nullable(), rows: count, metrics })),
        calibration: calibration.optional(),
      })
      .optional(),
  })
  .meta({
    id: "VersionReport",
    description: "All that the verdict on a version rests on.",
  }) satisfies z.ZodType<VersionReport>;
