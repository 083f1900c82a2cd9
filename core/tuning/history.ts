import * as z from "zod";
import type { Point } from "./space";

/** Describes a trial to samplers and schedulers. */
export interface ObservedTrial {
  /** Trials are numbered from 0 in the order of their creation. */
  readonly number: number;
  readonly params: Point;
  readonly state: "running" | "paused" | "completed" | "stopped" | "failed";
  /** Values of the first objective by epoch, ascending, in its own direction. */
  readonly reports: readonly { readonly epoch: number; readonly value: number }[];
  /**
   * Values of the first objective at the epochs at which a scheduler compares trials, ascending, in its own direction.
   * `at` is 0 at the first of these epochs, 1 at the last, and even between.
   */
  readonly curve?: readonly { readonly at: number; readonly value: number }[];
  /** Values of all objectives at the end, each in its own direction. */
  readonly values?: readonly number[];
  /** At most 0 where a constraint is kept. */
  readonly constraints?: readonly number[];
}

export const objectiveSchema = z.strictObject({
  /** A metric that the run tracks: `validation/accuracy`. */
  metric: z.string().min(1).max(250),
  direction: z.enum(["minimize", "maximize"]),
});
export type Objective = Readonly<z.output<typeof objectiveSchema>>;

/**
 * Returns the losses of a trial: its values, or its last report if it did not reach the end, turned so that less is
 * better. `undefined` if it has none.
 */
export function lossesOf(
  { state, values, reports }: ObservedTrial,
  objectives: readonly Objective[],
): readonly number[] | undefined {
  if (state === "failed") return undefined;
  const last = reports.at(-1)?.value;
  const given = values ?? (objectives.length === 1 && last !== undefined ? [last] : undefined);
  if (given === undefined || given.some((value) => !Number.isFinite(value))) return undefined;
  return given.map((value, i) => (objectives[i]?.direction === "maximize" ? -value : value));
}
