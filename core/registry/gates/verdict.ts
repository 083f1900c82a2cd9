import * as z from "zod";
import { pairedInterval, sliceEvidence } from "../../evaluation/shapes";
import type { RunStepKind } from "../../runs/run-states";
import { contentReference, count, instant, type Shape } from "../../shapes";

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
  .meta({ id: "CheckAnswer" });
export interface CheckAnswer extends Shape<typeof checkAnswer> {}

export const gateVerdict = z
  .object({
    passed: z.boolean(),
    checks: z.array(
      z
        .object({
          gate: z.enum([
            "threshold",
            "no-regression",
            "worst-slice",
            "slice-gap",
            "demographic-parity",
            "equalized-odds",
            "latency",
            "size",
            "check",
          ]),
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
    rulesRevision: count.optional().meta({ description: "Revision of the policy by which it was judged." }),
    champion: z.int().min(1).optional().meta({ description: "The version that it was compared with." }),
    document: contentReference.optional().meta({ description: "The verdict with its whole evidence, as JSON." }),
    at: instant,
  })
  .meta({ id: "GateVerdict" });
export interface GateVerdict extends Shape<typeof gateVerdict> {}
export type GateCheck = GateVerdict["checks"][number];
export type GateName = GateCheck["gate"];

export const gateOutput = z.object({
  model: z.string(),
  version: z.int(),
  passed: z.boolean(),
  pending: z.literal(true).optional().meta({
    description: "No gate failed, and an external check has not answered yet: the run waits for it.",
  }),
  reasons: z.array(z.string()),
});
export interface GateOutput extends Shape<typeof gateOutput> {}
export const gateKind: RunStepKind<GateOutput> = { step: "Gate", output: gateOutput };

/** Returns `passed`, `waiting for checks`, `refused` or `not evaluated`. */
export function verdictWord({ gate }: { readonly gate?: Pick<GateVerdict, "passed" | "checks"> }): string {
  if (!gate) return "not evaluated";
  if (gate.passed) return "passed";
  return gate.checks.every(({ passed, pending }) => passed || pending) ? "waiting for checks" : "refused";
}
