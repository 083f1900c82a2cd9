import * as z from "zod";
import { category, count, type DeepReadonly, type Shape } from "../shapes";

/** The choice of a threshold on the validation split; a number is used as it is. */
export const thresholdRule = z.union(
  [
    z.number().gt(0).lt(1),
    z.enum(["f1", "accuracy", "balancedAccuracy"]),
    z.strictObject({ recall: z.number().gt(0).max(1) }),
    z.strictObject({ precision: z.number().gt(0).max(1) }),
  ],
  {
    error:
      "must be f1, accuracy or balancedAccuracy (the one that is maximized), { recall: 0.9 } or { precision: 0.9 } (the minimum), or a number between 0 and 1",
  },
);
export type ThresholdRule = DeepReadonly<z.output<typeof thresholdRule>>;

export const decision = z
  .object({
    positive: category.meta({ description: "The class of interest." }),
    threshold: z.number().meta({
      description: "A row is predicted as the positive class if that class's probability is above it.",
    }),
    rule: thresholdRule.optional(),
    validation: z
      .object({ rows: count, precision: z.number(), recall: z.number(), f1: z.number(), accuracy: z.number() })
      .optional()
      .meta({ description: "Metrics of the positive class at the threshold, on the rows that chose it." }),
  })
  .meta({ id: "Decision", description: "Rule by which a model of two classes decides between them." });
export interface Decision extends Shape<typeof decision> {}

export interface DecisionSettings {
  readonly positive?: Decision["positive"] | undefined;
  readonly threshold?: ThresholdRule | undefined;
}

export function decisionText({ positive, threshold, rule, validation }: Decision): string {
  const base = `${positive} above ${Number(threshold.toPrecision(4))}`;
  if (rule === undefined || typeof rule === "number") return base;
  const goal =
    typeof rule === "string" ? `best ${rule}` : Object.entries(rule).map(([name, min]) => `${name} at least ${min}`)[0];
  const number = (value: number) => Number(value.toPrecision(4));
  const note = validation && `; there: precision ${number(validation.precision)}, recall ${number(validation.recall)}`;
  return `${base} (${goal} on validation${note ?? ""})`;
}
