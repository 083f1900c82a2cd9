/** Segments of a sharded optimizer are whole blocks. Never change it: it determines the bits of clipped runs. */
export const normBlockElements = 1024;

export function normBlockCount(elements: number): number {
  return Math.ceil(elements / normBlockElements);
}

/** Sums value² over `[start, end)`, at most a block, in double precision, where products of float32 are exact. */
export type BlockSquare = (values: Float32Array, start: number, end: number) => number;

/** Four running sums of every fourth element, added as (0 + 2) + (1 + 3): the order of two registers of two lanes. */
export const javascriptBlockSquare: BlockSquare = (values, start, end) => {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const g0 = values[i] as number;
    const g1 = values[i + 1] as number;
    const g2 = values[i + 2] as number;
    const g3 = values[i + 3] as number;
    s0 += g0 * g0;
    s1 += g1 * g1;
    s2 += g2 * g2;
    s3 += g3 * g3;
  }
  const rest = end - i;
  if (rest > 0) s0 += (values[i] as number) * (values[i] as number);
  if (rest > 1) s1 += (values[i + 1] as number) * (values[i + 1] as number);
  if (rest > 2) s2 += (values[i + 2] as number) * (values[i + 2] as number);
  return s0 + s2 + (s1 + s3);
};

/**
 * Sums squares block by block. @param gradients begins with the first element of block `firstBlock`; may be longer
 * @param length number of elements of the whole vector that count, from 0
 */
export function blockSquares(
  gradients: Float32Array,
  length: number,
  sums: Float64Array,
  firstBlock = 0,
  endBlock = normBlockCount(length),
  square: BlockSquare = javascriptBlockSquare,
): void {
  const base = firstBlock * normBlockElements;
  for (let block = firstBlock; block < endBlock; block++) {
    const start = block * normBlockElements - base;
    const end = Math.max(start, Math.min((block + 1) * normBlockElements, length) - base);
    sums[block] = square(gradients, start, end);
  }
}

/** Computes the norm from its blocks' sums, added in block order. */
export function normOfBlocks(sums: Float64Array): number {
  let sum = 0;
  for (const one of sums) sum += one;
  return Math.sqrt(sum);
}

/**
 * The norm for global clipping (Pascanu et al. 2013), in double precision and one fixed order. NaN stays NaN.
 * @param length number of elements that count, from 0. Default: all
 */
export function globalNorm(
  gradients: Float32Array,
  length: number = gradients.length,
  square: BlockSquare = javascriptBlockSquare,
): number {
  const sums = new Float64Array(normBlockCount(length));
  blockSquares(gradients, length, sums, 0, sums.length, square);
  return normOfBlocks(sums);
}

/** Returns the factor that limits a gradient of this norm to `maximum`; 1 if it is within, or `maximum` is undefined. */
export function clipFactor(norm: number, maximum: number | undefined): number {
  return maximum === undefined || norm <= maximum ? 1 : maximum / norm;
}
