import * as z from "zod";
import type { DeepReadonly } from "../shapes";

/** Stops a training whose validation metric no longer improves. The result has the weights of the best epoch. */
export const earlyStoppingSchema = z.strictObject({
  /** A metric that training records after each epoch. */
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

/** Effect of early stopping, as the result of the training records it. */
export interface EarlyStoppingOutcome {
  readonly metric: string;
  /** Number of the epoch whose weights are the result; the first epoch is 1. */
  readonly bestEpoch: number;
  /** Value of the metric after that epoch. */
  readonly value: number;
  /** Whether training ended before the job's last epoch. */
  readonly stopped: boolean;
}

/** Describes the outcome for people. */
export function stoppingText({ metric, bestEpoch, value, stopped }: EarlyStoppingOutcome, epochs: number): string {
  const end = stopped ? `stopped at epoch ${epochs}` : `trained all ${epochs} epochs`;
  return `${end}; weights of epoch ${bestEpoch}, the best by ${metric} (${Number(value.toPrecision(6))})`;
}
