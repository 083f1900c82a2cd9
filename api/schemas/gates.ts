import { z } from "zod";
import type { CheckAnswer } from "../../core/registry/gates/verdict";
import { type GateVerdict, gateNames } from "../../core/registry/gates/verdict";
import { contentReference, count, instant } from "./common";

const category = z.union([z.string(), z.number(), z.boolean()]);

const pairedInterval = z
  .object({
    difference: z.number(),
    lower: z.number(),
    upper: z.number(),
    confidence: z.number(),
    rows: count,
    resamples: count,
    seed: count,
  })
  .meta({ id: "PairedInterval", description: "Candidate minus champion on the same rows: a paired bootstrap." });

const sliceEvidence = z
  .object({
    column: z.string(),
    positive: category.optional().meta({ description: "The class whose rates were compared." }),
    rate: z.enum(["selection", "true-positive", "false-positive"]).optional(),
    estimate: z.number(),
    lower: z.number(),
    upper: z.number(),
    confidence: z.number(),
    resamples: count,
    seed: count,
    rows: count,
    minimumRows: count,
    slices: z.array(
      z.object({
        value: category.nullable(),
        rows: count,
        estimate: z.number(),
        lower: z.number(),
        upper: z.number(),
      }),
    ),
    judged: count,
    leftOut: count,
  })
  .meta({
    id: "SliceEvidence",
    description: "Slices of the test split, with intervals that hold for all of them together.",
  });

const checkAnswer = z
  .object({
    passed: z.boolean(),
    evidence: z.string(),
    by: z.string(),
    at: instant,
    exitCode: z.int().optional(),
    command: z.string().optional(),
    output: z.string().optional().meta({ description: "The end of what the command wrote." }),
  })
  .meta({ id: "CheckAnswer" }) satisfies z.ZodType<CheckAnswer>;

export const gateVerdict = z
  .object({
    passed: z.boolean(),
    checks: z.array(
      z
        .object({
          gate: z.enum(gateNames),
          metric: z.string(),
          value: z.number().nullable(),
          limit: z.number().nullable(),
          passed: z.boolean(),
          pending: z.literal(true).optional().meta({ description: "Nobody has answered yet." }),
          waived: z
            .literal(true)
            .optional()
            .meta({ description: "Its rule was not kept, and the model's policy does not ask for it." }),
          evidence: z.string().meta({ description: "A sentence: which value, which rule." }),
          interval: pairedInterval.optional(),
          slices: sliceEvidence.optional(),
          external: z
            .object({ kind: z.enum(["http", "command"]), digest: z.string(), answer: checkAnswer.optional() })
            .optional(),
        })
        .meta({ id: "GateCheck" }),
    ),
    rulesRevision: count.optional().meta({ description: "Of the policy that it was judged by." }),
    champion: z.int().min(1).optional().meta({ description: "The version that it was compared with." }),
    document: contentReference.optional().meta({ description: "The verdict with its whole evidence, as JSON." }),
    at: instant,
  })
  .meta({ id: "GateVerdict" }) satisfies z.ZodType<GateVerdict>;
