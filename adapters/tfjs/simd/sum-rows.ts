import { gemm } from "./gemm";
import type { Simd } from "./simd";

const float = 4;

/** Sums `rows` rows of `width` elements, as a product with a row of ones. */
export function sumRows(simd: Simd, x: number, rows: number, width: number, sums: number): void {
  const one = simd.scratch("one", float);
  simd.floats(one, 1)[0] = 1;
  gemm(simd, {
    m: 1,
    n: width,
    k: rows,
    a: { at: one, row: 0, column: 0 },
    b: { at: x, row: width * float, column: float },
    c: { at: sums, row: width * float },
  });
}
