import * as z from "zod";
import { taskKind } from "../../core/datasets/shapes";
import { calibration, classReport, importance, latency, sliceReport } from "../../core/evaluation/shapes";
import { gateVerdict } from "../../core/registry/gates/verdict";
import { approval, stage } from "../../core/registry/model";
import { contentReference, count, instant, metrics, type Shape } from "../../core/shapes";

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
    approvalsWithdrawn: z.string().optional().meta({ description: "Reason why earlier approvals no longer count." }),
    files: z
      .array(contentReference.extend({ name: z.string() }).meta({ id: "ModelFile" }))
      .optional()
      .meta({ description: "The files that serving loads, in the content store." }),
    latency: latency.optional(),
    evaluation: z
      .object({
        rows: count,
        label: z.string(),
        classes: z.array(classReport).optional(),
        confusionMatrix: z
          .array(z.array(count))
          .optional()
          .meta({ description: "Rows are true classes, columns predicted ones." }),
        task: taskKind,
        slices: z.array(sliceReport),
        importance: importance.optional(),
        calibration: calibration.optional(),
      })
      .optional(),
  })
  .meta({
    id: "VersionReport",
    description: "A version's metrics, verdict, evidence and approvals.",
  });
export interface VersionReport extends Shape<typeof versionReport> {}
