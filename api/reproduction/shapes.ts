import * as z from "zod";
import { count, type Shape, sha256 } from "../../core/shapes";

const difference = z
  .object({
    kind: z.enum(["code", "data", "parameters", "numerics"]),
    field: z.string(),
    original: z.string(),
    reproduction: z.string(),
  })
  .meta({ id: "ReproductionDifference", description: "A fact in which the two runs differ." });
export interface ReproductionDifference extends Shape<typeof difference> {}

const firstDifference = z
  .object({
    by: z.enum(["metric", "checkpoint"]),
    step: count,
    metric: z.string().optional(),
    original: z.string(),
    reproduction: z.string(),
  })
  .meta({
    id: "FirstDifference",
    description: "The first difference of two trainings: a metric's point, or a checkpoint's weights.",
  });
export interface FirstDifference extends Shape<typeof firstDifference> {}

export const reproduction = z
  .object({
    runId: z.string(),
    of: z.string().meta({ description: "The run that it is compared with." }),
    verdict: z.enum(["pending", "identical", "different", "failed"]),
    originalSha256: sha256.optional().meta({ description: "Digests of the weights." }),
    reproductionSha256: sha256.optional(),
    differences: z
      .array(difference)
      .meta({ description: "Possible reasons: code first, then data, parameters, numerics." }),
    agreement: z
      .object({
        steps: count.meta({ description: "Steps at which both have a point of the training loss." }),
        checkpoints: count.meta({ description: "Checkpoints of the same step that both still have." }),
        first: firstDifference.optional(),
      })
      .optional()
      .meta({ description: "Present if both have trained and differ." }),
    explanation: z.string(),
  })
  .meta({
    id: "Reproduction",
    description: "Whether a run gave the same weights as another, to the bit; where not, from where on and why.",
  });
export interface Reproduction extends Shape<typeof reproduction> {}
export type Agreement = NonNullable<Reproduction["agreement"]>;
