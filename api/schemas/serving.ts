import * as z from "zod";
import { version } from "../../core/registry/serving/shapes";
import { count } from "../../core/shapes";

/** Larger values would lose precision in sums of squares. */
const outcomeLimit = 1e9;

const planRequest = z
  .strictObject({
    metric: z.string().min(1).max(200).meta({ description: "Name of the outcome, for the records: `conversion`." }),
    kind: z.enum(["binary", "mean"]).default("binary").meta({ description: "`binary`: outcomes are 0 or 1." }),
    goal: z.enum(["increase", "decrease"]).default("increase"),
    margin: z.number().min(0).max(outcomeLimit).default(0).meta({
      description: "Permitted loss of a canary against the champion; absolute.",
    }),
    alpha: z.number().min(0.0001).max(0.5).default(0.05).meta({
      description: "Probability, over all looks together, that a decision is wrong.",
    }),
    effect: z.number().gt(0).max(outcomeLimit).meta({
      description: "The size of difference that is looked for, absolute: decides how fast, never how wrongly.",
    }),
    minUnits: z
      .int()
      .min(10)
      .max(1_000_000_000)
      .default(100)
      .meta({ description: "Minimum of each arm before any decision." }),
    maxUnits: z.int().min(10).max(1_000_000_000).optional().meta({
      description: "Maximum of the canary, after which it is rolled back if nothing was shown.",
    }),
    act: z.enum(["advise", "automatic"]).default("advise").meta({
      description:
        "`automatic`: the test's decision is carried out when outcomes arrive, a promotion only if gates and approvals allow it.",
    }),
  })
  .meta({
    id: "SequentialPlanRequest",
    description: "A test of a canary against the champion. Its result is valid at any time (sequential test).",
  });

export const trafficRequest = z
  .strictObject({
    canaries: z
      .array(
        z.strictObject({
          version,
          weight: z.number().min(0.0001).max(1).meta({ description: "Part of the units, to the ten-thousandth." }),
        }),
      )
      .max(20)
      .default([]),
    shadows: z
      .array(version)
      .max(20)
      .default([])
      .meta({ description: "Versions that receive copies of the requests; their answers are not used." }),
    test: planRequest.optional(),
    reason: z.string().max(2_000).default(""),
  })
  .meta({ id: "TrafficRequest" });

export const unit = z.string().min(1).max(1_000).meta({
  description: "Whom to be consistent with: a user, a session, a device.",
  example: "user-17",
});

export const outcomeValue = z.number().min(-outcomeLimit).max(outcomeLimit);

export const modelOutput = z
  .union([z.string().max(1_000), z.number(), z.boolean(), z.array(z.number()).min(1).max(10_000)])
  .meta({ id: "ModelOutput", description: "A class, a number, or the probabilities of classes." });

/** The serving version's prediction for a unit's request, and the shadow's. */
export const shadowObservation = z.strictObject({ unit, served: modelOutput, shadow: modelOutput });

export const shadowSummary = z
  .object({
    version: z.int().min(1),
    observations: count,
    agreement: z.number().optional().meta({ description: "Part in which both name the same class." }),
    meanAbsoluteDifference: z.number().optional(),
    examples: z.array(shadowObservation),
    truncated: z.boolean(),
  })
  .meta({ id: "ShadowSummary" });
