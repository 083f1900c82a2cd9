import * as z from "zod";
import { type DeepReadonly, type Shape, storedNumber } from "../shapes";

/** Stops a training whose validation metric no longer improves. The result has the weights of the best epoch. */
export const earlyStoppingSchema = z.strictObject({
  metric: z
    .string()
    .max(250)
    .regex(/^validation\/./, "must be a metric of the validation split, e.g. validation/loss"),
  /** Number of epochs without an improvement after which training stops. */
  patience: z.int().min(1).max(1_000_000),
  /** An epoch is better than the best one if it improves the metric by more than this. */
  minDelta: z.number().min(0).default(0),
  /** Default: that of the metric. Required for a module's own metric. */
  direction: z.enum(["minimize", "maximize"]).optional(),
});
export type EarlyStopping = DeepReadonly<z.output<typeof earlyStoppingSchema>>;

export const earlyStoppingOutcome = z.object({
  metric: z.string(),
  bestEpoch: z.int().min(1).meta({ description: "The epoch whose weights are the result; the first is 1." }),
  value: storedNumber.meta({ description: "Value of the metric after that epoch." }),
  stopped: z.boolean().meta({ description: "Whether training ended before the job's last epoch." }),
});
export interface EarlyStoppingOutcome extends Shape<typeof earlyStoppingOutcome> {}

export function stoppingText({ metric, bestEpoch, value, stopped }: EarlyStoppingOutcome, epochs: number): string {
  const end = stopped ? `stopped at epoch ${epochs}` : `trained all ${epochs} epochs`;
  return `${end}; weights of epoch ${bestEpoch}, the best by ${metric} (${Number(value.toPrecision(6))})`;
}
