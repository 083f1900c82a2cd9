import { z } from "zod";
import type { ArmState, Decided } from "../../core/serving/decide";
import type { SequentialPlan, SequentialVerdict } from "../../core/serving/sequential-test";
import type { Traffic } from "../../core/serving/traffic";
import { count } from "./common";

const version = z.int().min(1).max(999_999_999);
const range = z.object({ from: count, to: count });

/** Beyond these sums of squares would lose units. */
const outcomeLimit = 1e9;

const planRequest = z
  .strictObject({
    metric: z.string().min(1).max(200).meta({ description: "What is reported, for the records: `conversion`." }),
    kind: z.enum(["binary", "mean"]).default("binary").meta({ description: "`binary`: outcomes are 0 or 1." }),
    goal: z.enum(["increase", "decrease"]).default("increase"),
    margin: z.number().min(0).max(outcomeLimit).default(0).meta({
      description: "How much worse than the champion a canary may be and still be taken; absolute.",
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
      .meta({ description: "Of each arm, before anything is decided." }),
    maxUnits: z.int().min(10).max(1_000_000_000).optional().meta({
      description: "Of the canary, after which it goes back without proof.",
    }),
    act: z.enum(["advise", "automatic"]).default("advise").meta({
      description:
        "`automatic`: what the test decides is carried out when outcomes come in, promotion as far as gates and approvals allow it.",
    }),
  })
  .meta({
    id: "SequentialPlanRequest",
    description: "A test of a canary against the champion that may be looked at at any time.",
  });

const sequentialPlan = z
  .object({
    metric: z.string(),
    kind: z.enum(["binary", "mean"]),
    goal: z.enum(["increase", "decrease"]),
    margin: z.number(),
    alpha: z.number(),
    effect: z.number(),
    minUnits: count,
    maxUnits: count.optional(),
    act: z.enum(["advise", "automatic"]),
  })
  .meta({ id: "SequentialPlan" }) satisfies z.ZodType<SequentialPlan>;

export const traffic = z
  .object({
    canaries: z.array(z.object({ version, weight: z.number(), ranges: z.array(range) })),
    shadows: z.array(version),
    test: sequentialPlan.optional(),
    deal: count,
    epoch: count.meta({ description: "Outcomes are counted from this revision of the model on." }),
  })
  .meta({ id: "Traffic", description: "Who answers whom beside the champion." }) satisfies z.ZodType<Traffic>;

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
      .meta({ description: "Versions that are asked too, and whose answers nobody gets." }),
    test: planRequest.optional(),
    reason: z.string().max(2_000).default(""),
  })
  .meta({ id: "TrafficRequest" });

const arm = { units: count, sum: z.number(), sumOfSquares: z.number() };

export const sequentialVerdict = z
  .object({
    decision: z.enum(["promote", "keep-on", "roll-back"]),
    canary: z.number(),
    champion: z.number(),
    units: z.object({ canary: count, champion: count }),
    gain: z
      .object({ estimate: z.number(), lower: z.number(), upper: z.number() })
      .optional()
      .meta({ description: "In the good direction, with its confidence sequence." }),
    evidence: z.string(),
  })
  .meta({ id: "SequentialVerdict" }) satisfies z.ZodType<SequentialVerdict>;

export const armState = z
  .object({ version, role: z.enum(["champion", "canary"]), ...arm, verdict: sequentialVerdict.optional() })
  .meta({
    id: "ArmState",
    description: "What an arm's units have reported in this epoch.",
  }) satisfies z.ZodType<ArmState>;

export const decided = z
  .object({
    version,
    verdict: sequentialVerdict,
    done: z.enum(["promoted", "rolled-back", "none", "refused"]),
    refusal: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: "CanaryDecision" }) satisfies z.ZodType<Decided>;

export const unit = z.string().min(1).max(1_000).meta({
  description: "Whom to be consistent with: a user, a session, a device.",
  example: "user-17",
});
export const outcomeValue = z.number().min(-outcomeLimit).max(outcomeLimit);
export const modelOutput = z
  .union([z.string().max(1_000), z.number(), z.boolean(), z.array(z.number()).min(1).max(10_000)])
  .meta({ id: "ModelOutput", description: "A class, a number, or the probabilities of classes." });
