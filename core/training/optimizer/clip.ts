/**
 * Elements of a block of the norm. Blocks are what a sharded optimizer's segments are made of, so that each rank sums its own blocks and the
 * norm is still the same to the bit: never change it, it decides the bits of clipped runs.
 */
export const normBlockElements = 1024;

export function normBlockCount(elements: number): number {
  return Math.ceil(elements / normBlockElements);
}

/**
 * Squares of the gradient, summed block by block in double precision: `sums[b]` is that of the elements `[1024·b, 1024·(b + 1))`, as far as
 * they are below `length`. Within a block four running sums take every fourth element each and are added as (0 + 2) + (1 + 3): an order that
 * depends on nothing but the element's place in the whole vector, and that two pairs of lanes can follow.
 *
 * @param gradients begins with the first element of block `firstBlock`; may be longer.
 * @param length elements of the whole vector that count, from 0.
 */
export function blockSquares(
  gradients: Float32Array,
  length: number,
  sums: Float64Array,
  firstBlock = 0,
  endBlock = normBlockCount(length),
): void {
  const base = firstBlock * normBlockElements;
  for (let block = firstBlock; block < endBlock; block++) {
    let i = block * normBlockElements - base;
    const end = Math.max(i, Math.min((block + 1) * normBlockElements, length) - base);
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (; i + 4 <= end; i += 4) {
      const g0 = gradients[i] as number;
      const g1 = gradients[i + 1] as number;
      const g2 = gradients[i + 2] as number;
      const g3 = gradients[i + 3] as number;
      s0 += g0 * g0;
      s1 += g1 * g1;
      s2 += g2 * g2;
      s3 += g3 * g3;
    }
    const rest = end - i;
    if (rest > 0) s0 += (gradients[i] as number) * (gradients[i] as number);
    if (rest > 1) s1 += (gradients[i + 1] as number) * (gradients[i + 1] as number);
    if (rest > 2) s2 += (gradients[i + 2] as number) * (gradients[i + 2] as number);
    sums[block] = s0 + s2 + (s1 + s3);
  }
}

/** The norm from its blocks' sums, added in block order. */
export function normOfBlocks(sums: Float64Array): number {
  let sum = 0;
  for (const one of sums) sum += one;
  return Math.sqrt(sum);
}

/**
 * Global-norm clipping (Pascanu et al. 2013). Sums in double precision in one fixed order, so the norm has the same bits on every
 * worker. NaN or infinity anywhere makes the norm NaN or infinite, which is how a run's guard sees a diverged gradient.
 *
 * @param length elements that count, from 0 (running statistics lie after the trainable weights). Default: all.
 */
export function globalNorm(gradients: Float32Array, length: number = gradients.length): number {
  const sums = new Float64Array(normBlockCount(length));
  blockSquares(gradients, length, sums);
  return normOfBlocks(sums);
}

/** Factor that brings a gradient of this norm to at most `maximum`; 1 when it is there already, or `maximum` is undefined. */
export function clipFactor(norm: number, maximum: number | undefined): number {
  return maximum === undefined || norm <= maximum ? 1 : maximum / norm;
}
