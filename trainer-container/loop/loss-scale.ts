/**
 * Dynamic loss scaling (Micikevicius et al. 2018): gradients are multiplied by a power of two before they are rounded to
 * float16, so that small ones do not become zero. With `precision: float16` the loss's gradient is multiplied in the graph.
 * Otherwise only the gradients' copies on the wire are multiplied, exactly. The reported loss does not change.
 *
 * The state is a function of the previous steps, so all ranks and all world sizes agree. A step whose sum overflowed is
 * skipped and halves the scale. `goodSteps` others in a row double it.
 */
export interface LossScale {
  readonly scale: number;
  /** Steps since the scale last changed. */
  readonly goodSteps: number;
  /** Steps that were skipped in the whole run. They count as finished, but not for Adam's bias correction. */
  readonly skipped: number;
}

export const initialLossScale: LossScale = { scale: 2 ** 10, goodSteps: 0, skipped: 0 };

/** Interval at which a higher scale is tried: an overflow then costs one of this many steps. */
export const goodStepsToDouble = 500;
/** Float16's maximum is just below 2¹⁶. If a sum of gradients exceeds 2³², the format is not the reason. */
export const minLossScale = 2 ** -16;
export const maxLossScale = 2 ** 24;

/** @returns undefined if a smaller scale would not help: the gradient itself is not finite */
export function nextLossScale({ scale, goodSteps, skipped }: LossScale, finite: boolean): LossScale | undefined {
  if (!finite) {
    return scale <= minLossScale ? undefined : { scale: scale / 2, goodSteps: 0, skipped: skipped + 1 };
  }
  if (goodSteps + 1 < goodStepsToDouble) return { scale, goodSteps: goodSteps + 1, skipped };
  return { scale: Math.min(maxLossScale, scale * 2), goodSteps: 0, skipped };
}
