/**
 * Global-norm clipping (Pascanu et al. 2013). Sums in double precision in index order, so the norm has the same bits on every
 * worker. NaN or infinity anywhere makes the norm NaN or infinite, which is how a run's guard sees a diverged gradient.
 *
 * @param length elements that count, from 0 (running statistics lie after the trainable weights). Default: all.
 */
export function globalNorm(gradients: Float32Array, length: number = gradients.length): number {
  let sum = 0;
  for (let i = 0; i < length; i++) {
    const g = gradients[i] as number;
    sum += g * g;
  }
  return Math.sqrt(sum);
}

/** Factor that brings a gradient of this norm to at most `maximum`; 1 when it is there already, or `maximum` is undefined. */
export function clipFactor(norm: number, maximum: number | undefined): number {
  return maximum === undefined || norm <= maximum ? 1 : maximum / norm;
}
