/**
 * Dynamic loss scaling (Micikevicius et al. 2018): gradients are multiplied by a power of two before they are rounded to float16, so that
 * small ones do not vanish below its range. Here only their copies on the wire are scaled, which needs no change of the loss, and exactly.
 *
 * The state is a function of the steps so far, so that all ranks and all world sizes agree: a step whose sum overflowed is skipped and halves
 * the scale; `goodSteps` others in a row double it.
 */
export interface LossScale {
  readonly scale: number;
  /** Steps since the scale last changed. */
  readonly goodSteps: number;
  /** Steps that were skipped, over the whole run: they count as finished, but Adam's bias correction must not count them. */
  readonly skipped: number;
}

export const initialLossScale: LossScale = { scale: 2 ** 10, goodSteps: 0, skipped: 0 };

/** So often the scale is tried higher: an overflow then costs one step of so many. */
export const goodStepsToDouble = 500;
/** Float16's greatest is just below 2¹⁶; sums of rows' gradients above 2³² are no matter of the format any more. */
export const leastLossScale = 2 ** -16;
export const greatestLossScale = 2 ** 24;

/** @returns undefined where a smaller scale would not help: the gradient itself is not finite. */
export function nextLossScale({ scale, goodSteps, skipped }: LossScale, finite: boolean): LossScale | undefined {
  if (!finite) {
    return scale <= leastLossScale ? undefined : { scale: scale / 2, goodSteps: 0, skipped: skipped + 1 };
  }
  if (goodSteps + 1 < goodStepsToDouble) return { scale, goodSteps: goodSteps + 1, skipped };
  return { scale: Math.min(greatestLossScale, scale * 2), goodSteps: 0, skipped };
}
