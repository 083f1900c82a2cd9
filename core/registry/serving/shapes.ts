import * as z from "zod";
import { count, type Shape } from "../../shapes";

export const version = z.int().min(1).max(999_999_999);

const range = z.object({ from: count, to: count });

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
  .meta({ id: "SequentialPlan" });
export interface SequentialPlan extends Shape<typeof sequentialPlan> {}

export const traffic = z
  .object({
    canaries: z.array(z.object({ version, weight: z.number(), ranges: z.array(range) })),
    shadows: z.array(version),
    test: sequentialPlan.optional(),
    deal: count,
    epoch: count.meta({ description: "Outcomes are counted from this revision of the model on." }),
  })
  .meta({ id: "Traffic", description: "Routing of requests to versions other than the champion." });
export interface Traffic extends Shape<typeof traffic> {}
export type CanaryArm = Traffic["canaries"][number];

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
  .meta({ id: "SequentialVerdict" });
export interface SequentialVerdict extends Shape<typeof sequentialVerdict> {}

export const armState = z
  .object({ version, role: z.enum(["champion", "canary"]), ...arm, verdict: sequentialVerdict.optional() })
  .meta({
    id: "ArmState",
    description: "Outcomes of an arm's units in this epoch.",
  });
export interface ArmState extends Shape<typeof armState> {}

export const decided = z
  .object({
    version,
    verdict: sequentialVerdict,
    done: z.enum(["promoted", "rolled-back", "none", "refused"]),
    refusal: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: "CanaryDecision" });
export interface Decided extends Shape<typeof decided> {}
